internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Backed user defaults") struct BackedUserDefaultsTests {
  private let store = MutableDictionaryPreferences()
  private let defaults: UserDefaults

  init() { defaults = BackedUserDefaults(preferences: store) }

  @Test func typedSettersReachThePreferences() {
    defaults.set(1, forKey: "integer")
    defaults.set(Float(0.5), forKey: "float")
    defaults.set(1.5, forKey: "double")
    defaults.set(true, forKey: "truth")
    defaults.set(URL(string: "https://example.org/a?b#c"), forKey: "url")
    defaults.set("text", forKey: "text")
    defaults.set(NSNumber(value: true), forKey: "object")
    #expect(store["integer"] as? Int == 1)
    #expect(store["float"] as? Float == 0.5)
    #expect(store["double"] as? Double == 1.5)
    #expect(store["truth"] as? Bool == true)
    #expect(store["url"] as? URL == URL(string: "https://example.org/a?b#c"))
    #expect(store["text"] as? String == "text")
    #expect(store["object"] as? Bool == true)
  }

  @Test func typedGettersConvert() {
    store.set(dictionary: [
      "number": 8080, "text": "8080", "truth": true, "yes": "YES", "real": 3.7, "path": "/tmp",
      "strings": ["a"], "mixed": ["a", 1], "dictionary": ["a": 1], "data": Data([1]),
      "date": Date(timeIntervalSinceReferenceDate: 1.25), "largest": Int.max,
    ])
    #expect(defaults.integer(forKey: "text") == 8080)
    #expect(defaults.string(forKey: "number") == "8080")
    #expect(defaults.double(forKey: "text") == 8080)
    #expect(defaults.integer(forKey: "real") == 3)
    #expect(defaults.integer(forKey: "truth") == 1)
    #expect(defaults.string(forKey: "truth") == "1")
    #expect(defaults.bool(forKey: "yes"))
    #expect(defaults.bool(forKey: "number"))
    #expect(defaults.integer(forKey: "largest") == .max)
    #expect(defaults.float(forKey: "real") == 3.7)
    #expect(defaults.url(forKey: "path") == URL(fileURLWithPath: "/tmp"))
    #expect(defaults.stringArray(forKey: "strings") == ["a"])
    #expect(defaults.stringArray(forKey: "mixed") == nil)
    #expect(defaults.array(forKey: "mixed")?.count == 2)
    #expect(defaults.dictionary(forKey: "dictionary") as? [String: Int] == ["a": 1])
    #expect(defaults.data(forKey: "data") == Data([1]))
    #expect(defaults.object(forKey: "date") as? Date == Date(timeIntervalSinceReferenceDate: 1.25))
    #expect(defaults.integer(forKey: "none") == 0)
    #expect(defaults.string(forKey: "none") == nil)
  }

  @Test func numbersCastToEachTypeThatHoldsThem() {
    defaults.set(8, forKey: "k")
    #expect(defaults.object(forKey: "k") as? Double == 8)
    #expect(defaults.object(forKey: "k") as? UInt8 == 8)
    defaults.set([1, 2] as Any?, forKey: "k")
    #expect(defaults.array(forKey: "k") as? [Double] == [1, 2])
    defaults.set(UInt64.max as Any?, forKey: "k")
    #expect(defaults.object(forKey: "k") as? UInt64 == .max)
    defaults.set(true, forKey: "k")
    #expect(defaults.object(forKey: "k") as? Bool == true)
    #expect(defaults.object(forKey: "k") as? Int == nil)
  }

  @Test func nothingRemovesAValue() {
    let removals: [() -> Void] = [
      { defaults.set(nil, forKey: "k") }, { defaults.set(nil as URL?, forKey: "k") },
      { defaults.set(nil as Any?, forKey: "k") }, { defaults.removeObject(forKey: "k") },
      { defaults["k"] = nil }, { defaults.setValue(nil, forKey: "k") },
      { defaults.set(Int?.none as Any, forKey: "k") },
    ]
    for (number, remove) in removals.enumerated() {
      store["k"] = 1
      remove()
      #expect(store["k"] == nil, "removal \(number)")
    }
  }

  @Test func relativeURLsKeepTheirBase() {
    let url = URL(string: "c?d", relativeTo: URL(string: "https://example.org/a/b"))
    defaults.set(url, forKey: "k")
    #expect(defaults.url(forKey: "k") == url)
    #expect(defaults.url(forKey: "k")?.baseURL == url?.baseURL)
  }

  @Test func unsupportedValuesAreRefused() {
    store["k"] = "old"
    for value in [NSObject(), 1...2, ["a": NSObject()], [1: 2], NSNull(), UUID.self] as [Any] {
      defaults.set(value, forKey: "k")
      #expect(store["k"] as? String == "old")
      #expect(defaults.lastPreferencesError?.code == .unstorable)
    }
    defaults.set(1, forKey: "k")
    #expect(defaults.lastPreferencesError == nil)
  }

  @Test func oneUnsupportedValueRefusesAll() {
    defaults.set(dictionary: ["a": 1, "b": NSObject()])
    #expect(store.dictionary().isEmpty)
    #expect(throws: PreferencesError.self) { try defaults.save(["a": 1, "b": NSObject()]) }
    #expect(store.dictionary().isEmpty)
    #expect(throws: Never.self) { try defaults.save(["a": 1, "b": 2]) }
    #expect(store.dictionary().count == 2)
  }

  @Test func nothingIsWrittenToUserDefaults() {
    defaults.set(1, forKey: "backed.test")
    defaults["backed.test"] = 2
    #expect(defaults.synchronize())
    #expect(UserDefaults.standard.object(forKey: "backed.test") == nil)
    #expect(UserDefaults(suiteName: "PrephirencesBackedUserDefaults")?["backed.test"] == nil)
  }

  @Test func aDefaultObjectIsInMemory() {
    let other = BackedUserDefaults()
    other.set(1, forKey: "k")
    #expect(other.integer(forKey: "k") == 1)
    #expect(other.preferences.integer(forKey: "k") == 1)
    #expect(defaults.object(forKey: "k") == nil)
  }

  @Test func synchronizeWritesThePropertyList() throws {
    let folder = try TemporaryFolder()
    let plist = try Plist(openingFile: folder("a.plist"))
    let defaults = BackedUserDefaults(preferences: plist)
    defaults.set(1, forKey: "k")
    #expect(Plist(filePath: folder("a.plist")) == nil)
    #expect(defaults.synchronize())
    #expect(Plist(filePath: folder("a.plist"))?["k"] as? Int == 1)
    let nowhere = BackedUserDefaults(preferences: try Plist(openingFile: folder("a/b/c.plist")))
    #expect(!nowhere.synchronize())
    #expect(nowhere.lastPreferencesError != nil)
  }
}
