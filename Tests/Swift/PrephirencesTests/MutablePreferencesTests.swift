internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Setters and their defaults")
struct MutablePreferencesTests {
  private struct Point: Codable, Equatable {
    var x = 1
    var y = Date(timeIntervalSinceReferenceDate: 1.5)
  }

  @Test func subscriptsAndMembersReadAndWrite() {
    let preferences: any MutablePreferencesType = MinimalPreferences()
    preferences["a"] = 1
    preferences.b = "two"
    #expect(preferences.a as? Int == 1)
    #expect(preferences["b"] as? String == "two")
    preferences["a"] = nil
    preferences.b = nil
    #expect(preferences.dictionary().isEmpty)
  }

  @Test func typedSettersKeepTheType() {
    let preferences = MinimalPreferences()
    preferences.set(1, forKey: "int")
    preferences.set(true, forKey: "bool")
    preferences.set(1.5, forKey: "double")
    preferences.set(Float(2.5), forKey: "float")
    preferences.set(URL(string: "https://swift.org"), forKey: "url")
    #expect(preferences["int"] as? Int == 1 && preferences["bool"] as? Bool == true)
    #expect(preferences["double"] as? Double == 1.5 && preferences["float"] as? Float == 2.5)
    #expect(preferences["url"] as? URL == URL(string: "https://swift.org"))
  }

  /// The setters of preferences in memory have a shorter way that must not pass a subclass by.
  @Test func settersCallThatOfASubclass() {
    let preferences = CountingPreferences(dictionary: [:])
    preferences.set(1, forKey: "int")
    preferences.set(true, forKey: "bool")
    preferences.set(1.5, forKey: "double")
    preferences.set(Float(2.5), forKey: "float")
    preferences["text"] = "text"
    #expect(preferences.count == 5 && preferences.dictionary().count == 5)
  }

  @Test func nilRemovesHoweverItIsWrapped() {
    let setters: [(MinimalPreferences) -> Void] = [
      { $0["k"] = nil }, { $0["k"] = Optional<String>.none as Any },
      { $0["k"] = Optional<Int?>.some(nil) as Any }, { $0.set(nil as URL?, forKey: "k") },
      { $0.set(objectToArchive: nil, forKey: "k") },
      { $0.set(dictionary: ["k": Optional<Int>.none as Any]) },
    ]
    for (number, set) in setters.enumerated() {
      let preferences = MinimalPreferences(["k": 1])
      set(preferences)
      #expect(!preferences.hasObject(forKey: "k"), "setter \(number)")
    }
  }

  @Test func manyAtOnce() {
    let preferences = MinimalPreferences(["old": 1])
    preferences.set(dictionary: ["a": 1, "b": 2])
    preferences.set(objects: [3, 4], forKeys: ["c", "d", "left over"])
    #expect(preferences.dictionary().keys.sorted() == ["a", "b", "c", "d", "old"])
    preferences.clearAll()
    #expect(preferences.dictionary().isEmpty)
  }

  @Test func codableValuesRoundTrip() throws {
    let preferences = MinimalPreferences()
    try preferences.set(encodable: Point(), forKey: "k")
    #expect(try preferences.decodable(Point.self, forKey: "k") == Point())
    #expect(try preferences.decodable(Point.self, forKey: "absent") == nil)
    #expect(throws: DecodingError.self) { try preferences.decodable(Int.self, forKey: "k") }
    try preferences.set(encodable: Point?.none, forKey: "k")
    #expect(!preferences.hasObject(forKey: "k"))
  }

  @Test func archivesRoundTrip() throws {
    let uuid = UUID()
    let values: [Any] = ["text", 1, 2.5, true, Date(timeIntervalSince1970: 1.25), Data([1]), uuid]
    let preferences = MinimalPreferences()
    preferences.set(objectToArchive: values, forKey: "k")
    let read = try #require(preferences.unarchiveObject(forKey: "k") as? [Any])
    #expect(read.count == values.count)
    #expect(read[0] as? String == "text" && read[1] as? Int == 1 && read[2] as? Double == 2.5)
    #expect(read[6] as? UUID == uuid)
  }

  @Test func unarchivableValueChangesNothing() {
    let preferences = MinimalPreferences(["k": "old"])
    var deep: [Any] = []
    for _ in 0..<10_000 { deep = [deep] }
    let values: [Any] = [
      deep, Point(), [Point()], ["a": [Point()]], Decimal(1), [Decimal(1)], (1, 2),
      NSDecimalNumber(value: 1.5),
    ]
    for value in values {
      preferences.set(objectToArchive: value, forKey: "k")
      #expect(preferences["k"] as? String == "old")
    }
  }

  @Test func dataThatIsNotAnArchiveIsNil() {
    let plist = try? PropertyListSerialization.data(
      fromPropertyList: ["a": 1], format: .binary, options: 0)
    for data in [Data(), Data("garbage".utf8), Data(count: 100), plist ?? Data()] {
      #expect(MinimalPreferences(["k": data]).unarchiveObject(forKey: "k") == nil)
    }
  }

  @Test func adaptersReadTheirKeys() {
    #expect(AdaptedPreferences().dictionary() as? [String: String] == ["a": "aa", "b": "bb"])
    #expect(AdaptedPreferences().a as? String == "aa")
  }
}

private final class CountingPreferences: MutableDictionaryPreferences, @unchecked Sendable {
  // Unchecked because one test uses it, on one thread.
  private(set) var count = 0

  override func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    count += 1
    super.set(value, forKey: key)
  }
}
