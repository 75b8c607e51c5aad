import Foundation
import Prephirences
import Testing

@Suite("Proxying and composing")
struct ComposingTests {
  private let temporary: TemporaryDefaults
  private let userDefaults: UserDefaults

  init() throws {
    temporary = try TemporaryDefaults()
    userDefaults = temporary.defaults
  }

  @Test func proxy() {
    let myAppPrefs = MutableProxyPreferences(preferences: userDefaults, key: "myAppKey.")
    myAppPrefs["myKey"] = "value"
    // We have :
    #expect(userDefaults["myAppKey.myKey"] as? String == myAppPrefs["myKey"] as? String)  // is true

    #expect(userDefaults["myAppKey.myKey"] as? String == "value")
    #expect(userDefaults["myKey"] == nil)
  }

  @Test func composite() throws {
    let folder = try TemporaryFolder()
    try PropertyListEncoder().encode(["a": "file", "b": "file"])
      .write(to: URL(fileURLWithPath: folder.path("prefs.plist")))
    let fromDico = DictionaryPreferences(["a": "dictionary"])
    let fromFile = try #require(DictionaryPreferences(filePath: folder.path("prefs.plist")))
    userDefaults["c"] = "defaults"
    let origins = ["dictionary", "file", "defaults"]
    do {
      let myPreferences = CompositePreferences([fromDico, fromFile, userDefaults])
      #expect(["a", "b", "c"].map { myPreferences[$0] as? String } == origins)
    }
    do {
      // With array literal
      let myPreferences: CompositePreferences = [fromDico, fromFile, userDefaults]
      #expect(["a", "b", "c"].map { myPreferences[$0] as? String } == origins)
    }
    do {
      // Mutable, only first mutable will be affected
      let myPreferences: MutableCompositePreferences = [fromDico, fromFile, userDefaults]
      myPreferences["d"] = "new"
      #expect(userDefaults["d"] as? String == "new")
      #expect(fromDico["d"] == nil)
    }
  }

  @Test func affectOnlyFirstMutable() {
    let copies = MutableDictionaryPreferences()
    let myPreferences: MutableCompositePreferences = [userDefaults, copies]
    myPreferences["a"] = 1
    #expect(copies["a"] == nil)

    myPreferences.affectOnlyFirstMutable = false
    myPreferences["a"] = 2
    #expect(userDefaults["a"] as? Int == 2)
    #expect(copies["a"] as? Int == 2)
  }
}
