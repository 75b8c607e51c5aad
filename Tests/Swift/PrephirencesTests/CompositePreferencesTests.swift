internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Several preferences as one")
struct CompositePreferencesTests {
  private let fixed: DictionaryPreferences = ["a": 1, "fixed": "f"]
  private let first: MutableDictionaryPreferences = ["a": 2, "b": 2]
  private let second: MutableDictionaryPreferences = ["b": 3, "c": 3]

  /// Preferences whose getters know more about a value than its object shows.
  private struct Own: PreferencesType {
    func object(forKey key: PreferenceKey) -> PreferenceObject? { key == "own" ? "object" : nil }
    func dictionary() -> PreferencesDictionary { ["own": "object"] }
    func integer(forKey key: PreferenceKey) -> Int { 42 }
    func data(forKey key: PreferenceKey) -> Data? { Data("own".utf8) }
  }

  @Test func theFirstThatHasTheKeyAnswers() {
    let all: CompositePreferences = [fixed, first, second]
    #expect(all["a"] as? Int == 1 && all["b"] as? Int == 2 && all["c"] as? Int == 3)
    #expect(all["absent"] == nil && !all.hasObject(forKey: "absent"))
    #expect(all.dictionary().mapValues { "\($0)" } == ["a": "1", "b": "2", "c": "3", "fixed": "f"])
    #expect(all.c as? Int == 3)
    #expect(all.array.count == 3 && all.mutableArray.count == 2 && all.immutableArray.count == 1)
    #expect(all.preferences(with: "b") as? MutableDictionaryPreferences === first)
    #expect(all.mutablePreferences(with: "c") as? MutableDictionaryPreferences === second)
    #expect(all.preferences(with: "absent") == nil && all.mutablePreferences(with: "fixed") == nil)
    let none: CompositePreferences = []
    #expect(none["a"] == nil && none.dictionary().isEmpty && none.integer(forKey: "a") == 0)
  }

  @Test func typedGettersUsePreferencesThatHaveTheKey() {
    let values: MutableDictionaryPreferences = [
      "int": "12", "double": "1.5", "array": [1], "strings": ["a"], "dictionary": ["a": 1],
      "url": "https://swift.org", "bool": "YES",
    ]
    values.set(objectToArchive: "text", forKey: "archive")
    let all = CompositePreferences([Own(), values])
    #expect(all.integer(forKey: "own") == 42 && all.data(forKey: "own") == Data("own".utf8))
    #expect(all.integer(forKey: "int") == 12 && all.double(forKey: "double") == 1.5)
    #expect(all.float(forKey: "double") == 1.5 && all.bool(forKey: "bool"))
    #expect(all.string(forKey: "int") == "12" && all.array(forKey: "array")?.count == 1)
    #expect(all.stringArray(forKey: "strings") == ["a"])
    #expect(all.dictionary(forKey: "dictionary")?["a"] as? Int == 1)
    #expect(all.url(forKey: "url")?.host == "swift.org")
    #expect(all.unarchiveObject(forKey: "archive") as? String == "text")
    #expect(all.string(forKey: "x") == nil && all.data(forKey: "x") == nil)
    #expect(all.double(forKey: "x") == 0 && !all.bool(forKey: "x"))
  }

  @Test func changesGoToFirstMutable() {
    let all: MutableCompositePreferences = [fixed, first, second]
    #expect(all.affectOnlyFirstMutable)
    all["new"] = 1
    all.b = 5
    all.removeObject(forKey: "c")
    all.set(dictionary: ["d": 1])
    #expect(first.dictionary() as? [String: Int] == ["a": 2, "b": 5, "new": 1, "d": 1])
    #expect(second.dictionary() as? [String: Int] == ["b": 3, "c": 3])
    all["b"] = nil
    #expect(all["b"] as? Int == 3, "the value of the second shows")
  }

  @Test func changesGoToAllThatCanBeChanged() {
    let all = MutableCompositePreferences([fixed, first, second], affectOnlyFirstMutable: false)
    all["new"] = 1
    all.removeObject(forKey: "b")
    #expect(first.dictionary() as? [String: Int] == ["a": 2, "new": 1])
    #expect(second.dictionary() as? [String: Int] == ["c": 3, "new": 1])
    all.affectOnlyFirstMutable = true
    all["new"] = 2
    #expect(first["new"] as? Int == 2 && second["new"] as? Int == 1)
  }

  @Test func allIsClearedWhateverTheChoice() {
    let all: MutableCompositePreferences = [fixed, first, second]
    all.clearAll()
    #expect(first.dictionary().isEmpty && second.dictionary().isEmpty)
    #expect(all.dictionary().count == 2)
  }

  @Test func typedSettersKeepTheType() {
    let all: MutableCompositePreferences = [fixed, first]
    all.set(1, forKey: "int")
    all.set(Float(1.5), forKey: "float")
    all.set(2.5, forKey: "double")
    all.set(true, forKey: "bool")
    all.set(URL(string: "https://swift.org"), forKey: "url")
    all.set(objectToArchive: "text", forKey: "archive")
    #expect(first["int"] as? Int == 1 && first["float"] as? Float == 1.5)
    #expect(first["double"] as? Double == 2.5 && first["bool"] as? Bool == true)
    #expect(first["url"] is URL && first["archive"] is Data)
    all.set(nil as URL?, forKey: "url")
    all.set(objectToArchive: nil, forKey: "archive")
    all.set(Int?.none as Any, forKey: "int")
    #expect(first.dictionary().keys.sorted() == ["a", "b", "bool", "double", "float"])
  }

  @Test func nothingToChangeIsNoFault() {
    let all: MutableCompositePreferences = [fixed]
    all["a"] = 5
    all.removeObject(forKey: "a")
    all.clearAll()
    #expect(all["a"] as? Int == 1)
  }

  @Test func severalThreadsMayUseIt() {
    let all: MutableCompositePreferences = [fixed, first, second]
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for turn in 0..<200 {
        all.affectOnlyFirstMutable = turn.isMultiple(of: 2)
        all.set(turn, forKey: "\(thread)")
        _ = all.dictionary()
      }
    }
    #expect((0..<8).allSatisfy { all.integer(forKey: "\($0)") == 199 })
  }
}
