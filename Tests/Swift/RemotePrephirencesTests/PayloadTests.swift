internal import Foundation
internal import Prephirences
internal import Testing

@testable internal import RemotePrephirences

@Suite("Answers as values of preferences")
struct PayloadTests {
  private func json(_ text: String) throws -> PreferencesDictionary {
    try RemotePayload.values(of: Data(text.utf8), .json())
  }

  @Test func numbersAndTruthValuesAreThoseOfSwift() throws {
    let values = try json(
      """
      {"int": 1, "max": 9223372036854775807, "huge": 18446744073709551615, "real": 1.5, "on": true,
       "off": false, "list": [true, 2]}
      """)
    func type(_ key: String) -> Any.Type? { unwrapped(values[key]).map { Swift.type(of: $0) } }
    #expect(type("int") == Int.self && values["int"] as? Int == 1)
    #expect(type("max") == Int.self && values["max"] as? Int == .max)
    #expect(type("huge") == UInt64.self && values["huge"] as? UInt64 == .max)
    #expect(type("real") == Double.self && values["real"] as? Double == 1.5)
    #expect(type("on") == Bool.self && values["off"] as? Bool == false)
    let list = values["list"] as? [Any]
    #expect(list?.first as? Bool == true && list?.last as? Int == 2)
  }

  @Test func nullRemovesAtRootAndIsOmittedElsewhere() throws {
    let preferences: MutableDictionaryPreferences = ["a": 1, "b": 2]
    preferences.set(dictionary: try json(#"{"a": null, "c": [null, 1], "d": {"e": null}}"#))
    #expect(preferences["a"] == nil && preferences["b"] as? Int == 2)
    #expect((preferences["c"] as? [Any])?.count == 1)
    #expect((preferences["d"] as? [String: Any])?.isEmpty == true)
  }

  @Test func propertyListsKeepTheirTypes() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1)
    let data = try PropertyListSerialization.data(
      fromPropertyList: ["i": 1, "b": true, "d": date, "x": Data([1])], format: .binary, options: 0)
    let values = try RemotePayload.values(of: data, .propertyList())
    #expect(values["i"] as? Int == 1 && values["b"] as? Bool == true)
    #expect(values["d"] as? Date == date && values["x"] as? Data == Data([1]))
  }

  @Test func unsupportedPropertyListIsMalformed() {
    // A dictionary with one key: a set of one text, on which Foundation's reader stops the process.
    let set: [UInt8] = [0xD1, 1, 2, 0x51, 0x61, 0xC1, 1]
    // The same with a reference of an archive.
    let reference: [UInt8] = [0xD1, 1, 2, 0x51, 0x61, 0x80, 1]
    for objects in [set, reference] {
      let offsets: [UInt8] = [8, 11, 13]
      var data = Data("bplist00".utf8)
      data += objects + offsets
      data += [0, 0, 0, 0, 0, 0, 1, 1] as [UInt8]
      for number in [3, 0, 15] as [UInt8] { data += Array(repeating: 0, count: 7) + [number] }
      #expect(throws: RemoteError.self) {
        try RemotePayload.values(of: data, .propertyList())
      }
    }
  }

  @Test func propertyListsThatAreTooDeepAreMalformed() {
    for count in [300, 100_000] {
      let text =
        "<dict><key>a</key>" + String(repeating: "<array>", count: count)
        + String(repeating: "</array>", count: count) + "</dict>"
      #expect(throws: RemoteError.self) {
        try RemotePayload.values(of: Data(text.utf8), .propertyList())
      }
    }
  }

  @Test func aClosureReadsOtherFormats() throws {
    struct Bad: Error {}
    let format = SerializationFormat.custom { data in
      guard let text = String(data: data, encoding: .utf8) else { throw Bad() }
      let pairs = text.split(separator: "\n").map { $0.split(separator: "=").map(String.init) }
      return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
    }
    let values = try RemotePayload.values(of: Data("a=1\nb=2".utf8), format)
    #expect(values as? [String: String] == ["a": "1", "b": "2"])
    #expect(throws: RemoteError.self) { try RemotePayload.values(of: Data([0xFF]), format) }
  }

  @Test func theRootIsADictionary() {
    do {
      _ = try json("[1]")
      Issue.record("an array was read")
    } catch RemoteError.notConvertibleToDictionary {
    } catch {
      Issue.record(error)
    }
  }
}
