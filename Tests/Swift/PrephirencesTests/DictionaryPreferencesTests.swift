internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Preferences in memory")
struct DictionaryPreferencesTests {
  @Test func areMadeOfDictionaries() {
    let dictionary: [String: Any] = ["a": 1, "b": "two", "nil": Optional<Int>.none as Any]
    for preferences in [
      DictionaryPreferences(dictionary), DictionaryPreferences(dictionary: dictionary),
      MutableDictionaryPreferences(dictionary),
      DictionaryPreferences(preferences: DictionaryPreferences(dictionary)),
      ["a": 1, "b": "two"],
    ] {
      #expect(preferences["a"] as? Int == 1 && preferences.string(forKey: "b") == "two")
      #expect(preferences.b as? String == "two")
      #expect(preferences.dictionary().count == 2 && !preferences.hasObject(forKey: "nil"))
    }
  }

  @Test func areSequences() {
    let preferences: DictionaryPreferences = ["a": 1, "b": 2]
    var seen: [String: Int] = [:]
    for (key, value) in preferences { seen[key] = value as? Int }
    #expect(seen == ["a": 1, "b": 2])
    let index = preferences.dictionary().startIndex
    let element = preferences[index]
    #expect(seen[element.0] == element.1 as? Int)
    let key: String? = "a"
    #expect(preferences[key] as? Int == 1 && preferences[nil as String?] == nil)
  }

  @Test func nilRemovesHoweverItIsWrapped() {
    let setters: [(MutableDictionaryPreferences) -> Void] = [
      { $0["k"] = nil }, { $0.k = nil }, { $0.set(nil, forKey: "k") },
      { $0.set(nil as URL?, forKey: "k") }, { $0["k"] = Int??.some(nil) as Any },
      { $0.set(objectToArchive: nil, forKey: "k") }, { $0.clearAll() },
      { $0.set(dictionary: ["k": Int?.none as Any]) }, { $0.removeObject(forKey: "k") },
    ]
    for (number, set) in setters.enumerated() {
      let preferences: MutableDictionaryPreferences = ["k": 1]
      set(preferences)
      #expect(preferences.dictionary().isEmpty, "setter \(number)")
    }
  }

  @Test func keysThatAreCanonicallyEquivalentAreOne() {
    let preferences = MutableDictionaryPreferences()
    preferences["\u{e9}"] = 1
    preferences["e\u{301}"] = 2
    preferences["a\0b"] = 3
    preferences["\u{301}"] = 4
    preferences[""] = 5
    #expect(preferences["\u{e9}"] as? Int == 2)
    #expect(preferences.dictionary().count == 4)
    #expect(preferences["a\0b"] as? Int == 3 && preferences["a"] == nil)
    #expect(preferences["\u{301}"] as? Int == 4 && preferences[""] as? Int == 5)
  }

  /// Values are destroyed outside the lock, so they may read the store that contained them.
  @Test func destroyedValuesMayReadTheStore() {
    final class Value {
      let preferences: MutableDictionaryPreferences
      init(_ preferences: MutableDictionaryPreferences) { self.preferences = preferences }
      deinit { preferences["seen"] = true }
    }
    for change: (MutableDictionaryPreferences) -> Void in [
      { $0["k"] = 1 }, { $0.removeObject(forKey: "k") }, { $0.clearAll() },
      { $0.set(dictionary: ["k": 1]) },
    ] {
      let preferences = MutableDictionaryPreferences()
      preferences["k"] = Value(preferences)
      change(preferences)
      #expect(preferences.bool(forKey: "seen"))
    }
  }
}

@Suite("Buffers")
struct BufferPreferencesTests {
  @Test func changesGoThereWithTheCommit() {
    let target: MutableDictionaryPreferences = ["kept": 1, "changed": 1, "removed": 1]
    let buffer = BufferPreferences(target)
    buffer["changed"] = 2
    buffer["new"] = 3
    buffer["removed"] = nil
    #expect(buffer.hasChanges && target["changed"] as? Int == 1 && target["new"] == nil)
    target["kept"] = "elsewhere"
    #expect(buffer["kept"] as? Int == 1)
    buffer.commit()
    #expect(!buffer.hasChanges)
    #expect(target["kept"] as? String == "elsewhere" && target["changed"] as? Int == 2)
    #expect(target["new"] as? Int == 3 && target["removed"] == nil)
  }

  @Test func changesAreForgottenByTheRollback() {
    let target: MutableDictionaryPreferences = ["a": 1]
    let buffer = BufferPreferences(target)
    buffer["a"] = 2
    buffer.set(dictionary: ["b": 2])
    target["c"] = 3
    buffer.rollback()
    #expect(buffer.dictionary() as? [String: Int] == ["a": 1, "c": 3] && !buffer.hasChanges)
    buffer.commit()
    #expect(target.dictionary() as? [String: Int] == ["a": 1, "c": 3])
  }

  @Test func allCanBeCleared() {
    let target: MutableDictionaryPreferences = ["a": 1]
    let buffer = BufferPreferences(target)
    target["later"] = 1
    buffer.clearAll()
    buffer.commit()
    #expect(target.dictionary() as? [String: Int] == ["later": 1])
  }

  @Test func literalsAreTheirOwn() {
    let buffer: BufferPreferences = ["a": 1]
    buffer["a"] = 2
    buffer.rollback()
    #expect(buffer["a"] as? Int == 1)
    buffer["a"] = 3
    buffer.commit()
    #expect(buffer.buffered["a"] as? Int == 3)
  }
}
