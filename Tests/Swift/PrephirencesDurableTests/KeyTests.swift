import Foundation
import Prephirences
import PrephirencesDurable
import Testing

private enum Colour: String, Codable { case red, green }

private struct Point: Codable, Equatable { var x = 0, y = 0 }

extension DurablePreferences.Key<Int> {
  fileprivate static var port: Self { Self("port", default: 8080) }
}

@Suite struct KeyTests {
  static let settings = DurablePreferences(suiteName: "unused")
  static let name = DurablePreferences.Key<String?>("name")

  @Test func keysHaveDefaultsAndTypes() throws {
    let folder = try TestFolder()
    let store = folder.store()
    let colour = DurablePreferences.Key("colour", default: Colour.red)
    let maybe = DurablePreferences.Key<Colour?>("maybe")
    let point = DurablePreferences.Key("point", default: Point())
    #expect(store[.port] == 8080)
    #expect(store[Self.name] == nil)
    store[.port] += 1
    store[Self.name] = "x"
    store[colour] = .green
    store[maybe] = .green
    store[point].x = 5
    #expect(store.lastError == nil)
    let other = folder.otherStore()
    #expect(other[.port] == 8081)
    #expect(other[Self.name] == "x")
    #expect(other[colour] == .green)
    #expect(other["colour"] as? String == "green")
    #expect(other[maybe] == .green)
    #expect(other[point] == Point(x: 5))
    store[Self.name] = nil
    #expect(try !other.hasValue(for: Self.name))
  }

  @Test func mistypedValuesAreNotOverwritten() throws {
    let store = try TestFolder().store()
    store["port"] = "text"
    #expect(store[.port] == 8080)
    #expect(store.lastError?.code == .typeMismatch)
    store[.port] += 1
    #expect(store.lastError?.code == .typeMismatch)
    #expect(store["port"] as? String == "text")
    #expect(throws: PreferencesError.self) { try store.update(.port) { $0 += 1 } }
    store[.port] = 1
    #expect(store[.port] == 1)
  }

  @Test func failuresAreObserved() throws {
    let store = try TestFolder().store()
    let codes = Received<PreferencesError.Code>()
    let observation = store.observeFailures { codes.append($0.code) }
    store["key"] = NSObject()
    #expect(codes.all == [.unstorable])
    observation.cancel()
    store["key"] = NSObject()
    #expect(codes.all.count == 1)
  }
}
