import Foundation
import Prephirences
import SwiftyUserDefaults
import Testing

/// What is stored, and what else is read.
@Suite struct FormTests {
  private func stored<T: DefaultsSerializable>(_ value: T) -> Any? where T.T == T {
    let defaults = makeAdapter()
    defaults[key: DefaultsKey<T>("key", defaultValue: value)] = value
    return defaults.defaults.preferenceObject(forKey: "key")
  }

  private func read<T: DefaultsSerializable>(
    _ object: Any, as type: T.Type = T.self
  ) -> T? where T.T == T {
    let store = MutableDictionaryPreferences(dictionary: ["key": object])
    return DefaultsAdapter(preferences: store, keyStore: DefaultsKeys())[
      key: DefaultsKey<T?>("key")]
  }

  @Test func arraysArePropertyLists() {
    #expect(stored(["a"]) as? [String] == ["a"])
    #expect(stored([1]) as? [Int] == [1])
    #expect(stored([true]) as? [Bool] == [true])
    #expect(stored([0.5]) as? [Double] == [0.5])
    #expect(stored([Data([1])]) as? [Data] == [Data([1])])
    #expect(stored([Date.distantPast]) as? [Date] == [.distantPast])
    #expect(stored([Side.left]) as? [String] == ["left"])
    #expect(stored(["a": 1]) as? [String: Int] == ["a": 1])
    #expect(stored([[1]]) as? [[Int]] == [[1]])
  }

  @Test func arraysAreReadFromJSON() throws {
    let encoder = JSONEncoder()
    let date = Date(timeIntervalSinceReferenceDate: 1.25)
    let url = try #require(URL(string: "https://swift.org"))
    #expect(read(try encoder.encode(["a"])) == ["a"])
    #expect(read(try encoder.encode([1])) == [1])
    #expect(read(try encoder.encode([true])) == [true])
    #expect(read(try encoder.encode([0.5])) == [0.5])
    #expect(read(try encoder.encode([Data([1])])) == [Data([1])])
    #expect(read(try encoder.encode([date])) == [date])
    #expect(read(try encoder.encode([url])) == [url])
    #expect(read(try encoder.encode(["a": 1])) == ["a": 1])
  }

  @Test func launchArgumentsAreParsed() {
    #expect(read("3") == 3)
    #expect(read("61.3") == 61.3)
    #expect(read("3.5", as: Int.self) == nil)
    for text in ["true", "T", "yes", "Y", "1"] { #expect(read(text) == true) }
    for text in ["false", "F", "no", "N", "0"] { #expect(read(text) == false) }
    #expect(read("blabla", as: Bool.self) == nil)
    #expect(read("200", as: UInt8.self) == 200)
    #expect(read("300", as: UInt8.self) == nil)
  }

  @Test func numbersConvert() {
    #expect(read(3.7, as: Int.self) == 3)
    #expect(read(3, as: Double.self) == 3)
    #expect(read(2, as: Bool.self) == true)
    #expect(read(true, as: Int.self) == 1)
    #expect(read(1.5, as: String.self) == "1.5")
    #expect(read(UInt64.max, as: Int.self) == nil)
    #expect(read(1e300, as: Int.self) == nil)
  }

  @Test func codableIsReadFromObjects() {
    #expect(read(["x": 1, "y": 0.5]) == Point(x: 1, y: 0.5))
    #expect(read([["x": 1, "y": 0.5]]) == [Point(x: 1, y: 0.5)])
  }

  @Test func urlIsReadFromItsArchive() throws {
    let url = try #require(URL(string: "https://swift.org/x"))
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: url as NSURL, requiringSecureCoding: false)
    #expect(read(archive) == url)
  }
}
