internal import Foundation
internal import Testing

@testable internal import Prephirences

@Suite struct CodableFormTests {
  private struct Server: Codable, Equatable {
    var name = "web"
    var port: UInt16 = 8080
    var isOpen = true
    var load: Double? = 0.25
    var since = Date(timeIntervalSinceReferenceDate: 1.5)
    var home = URL(string: "https://example.org/a?b")
    var key = Data([1, 2, 3])
    var tags = ["a", "b"]
    var children: [Server] = []
    var limit = Decimal(string: "0.1") ?? 0
    var id = UUID()
  }

  private let server = Server(children: [Server(name: "child", load: nil)])

  @Test func jsonIsReadBack() throws {
    let data = try CodableForm.encode(server, forKey: "s")
    #expect(try CodableForm.decode(Server.self, from: data, forKey: "s") == server)
  }

  @Test func objectsAreReadBack() throws {
    let objects = try CodableForm.encodeObjects(server, forKey: "s")
    #expect((objects as? [String: Any])?["since"] as? Date == server.since)
    #expect((objects as? [String: Any])?["key"] as? Data == server.key)
    #expect(try CodableForm.decode(Server.self, from: objects, forKey: "s") == server)
  }

  @Test func objectsOfOtherProgramsAreRead() throws {
    let server = Server()
    let objects: [String: Any] = [
      "name": "web", "port": "8080", "isOpen": 1, "load": NSNumber(value: 0.25),
      "since": 1.5, "home": "https://example.org/a?b", "key": "AQID", "tags": ["a", "b"],
      "children": [Any](), "limit": "0.1", "id": server.id.uuidString,
    ]
    #expect(try CodableForm.decode(Server.self, from: objects, forKey: "s") == server)
  }

  @Test func scalarsAndOptionalsAreTopLevel() throws {
    #expect(try roundTrip(5) == 5)
    #expect(try roundTrip("text") == "text")
    #expect(try roundTrip(Optional(1.5)) == 1.5)
    #expect(try roundTrip([1, nil, 3]) == [1, nil, 3])
    #expect(try roundTrip(UInt64.max) == .max)
    #expect(try roundTrip(Int.min) == .min)
    #expect(try roundTrip(["k": [true]]) == ["k": [true]])
  }

  private func roundTrip<Value: Codable & Equatable>(_ value: Value) throws -> Value {
    let json = try CodableForm.encode(value, forKey: "k")
    let objects = try CodableForm.encodeObjects(value, forKey: "k")
    let read = try CodableForm.decode(Value.self, from: objects, forKey: "k")
    #expect(try CodableForm.decode(Value.self, from: json, forKey: "k") == read)
    return read
  }

  /// A type that is encoded as data alone, as an identifier or a token.
  private struct Token: Codable, Equatable {
    let bytes: Data

    init(_ bytes: Data) { self.bytes = bytes }

    init(from decoder: any Decoder) throws {
      bytes = try decoder.singleValueContainer().decode(Data.self)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(bytes)
    }
  }

  @Test(arguments: [Data(), Data([0, 1]), Data("5".utf8), Data("\"AAAA\"".utf8)])
  func dataOfAnotherTypeIsReadBack(_ bytes: Data) throws {
    let token = Token(bytes)
    #expect(try roundTrip(token) == token)
    #expect(try roundTrip([token]) == [token])
    #expect(try roundTrip(["k": token]) == ["k": token])
  }

  @Test func elementsMayBeJSONData() throws {
    let elements = try [server, server].map { try CodableForm.encode($0, forKey: "k") }
    #expect(try CodableForm.decode([Server].self, from: elements, forKey: "k") == [server, server])
  }

  @Test func errorsNameThePlaceOnly() throws {
    let objects: [String: Any] = ["name": "web", "port": "secret", "children": [Any]()]
    let error = #expect(throws: PreferencesError.self) {
      try CodableForm.decode(Server.self, from: objects, forKey: "s")
    }
    #expect(error?.code == .typeMismatch)
    #expect(error?.message.contains("at 'port'") == true)
    #expect(error?.message.contains("secret") == false)
    let json = Data(#"{"name": "web", "port": 70000000}"#.utf8)
    let other = #expect(throws: PreferencesError.self) {
      try CodableForm.decode(Server.self, from: json, forKey: "s")
    }
    #expect(other?.message.contains("70000000") == false)
  }

  @Test func infinityIsRefused() {
    let error = #expect(throws: PreferencesError.self) {
      try CodableForm.encode(["a": [1, Double.infinity]], forKey: "k")
    }
    #expect(error?.code == .unstorable)
    #expect(error?.message.contains("at 'a.1'") == true)
  }

  @Test func preferencesDecodeBothForms() throws {
    let store: MutableDictionaryPreferences = [
      "objects": ["a": 1], "json": Data(#"{"a":1}"#.utf8), "text": "a",
    ]
    #expect(try store.decodable([String: Int].self, forKey: "objects") == ["a": 1])
    #expect(try store.decodable([String: Int].self, forKey: "json") == ["a": 1])
    #expect(try store.decodable([String: Int].self, forKey: "none") == nil)
    #expect(throws: DecodingError.self) {
      try store.decodable([String: Int].self, forKey: "text")
    }
    let preference = Preference<Point>(
      preferences: ["p": ["x": 1, "y": 2.5]] as DictionaryPreferences, key: "p")
    #expect(preference.value == Point(x: 1, y: 2.5))
  }

  private struct Point: Codable, Equatable {
    var x: Int
    var y: Double
  }
}
