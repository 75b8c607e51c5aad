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
    try PropertyListEncoder().encode(["first": "file", "second": "file"])
      .write(to: URL(fileURLWithPath: folder.path("prefs.plist")))
    let fromDico = DictionaryPreferences(["first": "dictionary"])
    let fromFile = try #require(DictionaryPreferences(filePath: folder.path("prefs.plist")))
    // Not a key of one letter, because user defaults also contain the options of the process, such
    // as `-c release`.
    userDefaults["third"] = "defaults"
    let origins = ["dictionary", "file", "defaults"]
    do {
      let myPreferences = CompositePreferences([fromDico, fromFile, userDefaults])
      #expect(["first", "second", "third"].map { myPreferences[$0] as? String } == origins)
    }
    do {
      // With array literal
      let myPreferences: CompositePreferences = [fromDico, fromFile, userDefaults]
      #expect(["first", "second", "third"].map { myPreferences[$0] as? String } == origins)
    }
    do {
      // Mutable, only first mutable will be affected
      let myPreferences: MutableCompositePreferences = [fromDico, fromFile, userDefaults]
      myPreferences["fourth"] = "new"
      #expect(userDefaults["fourth"] as? String == "new")
      #expect(fromDico["fourth"] == nil)
    }
  }

  @Test func affectOnlyFirstMutable() {
    let copies = MutableDictionaryPreferences()
    let myPreferences: MutableCompositePreferences = [userDefaults, copies]
    myPreferences["both"] = 1
    #expect(copies["both"] == nil)

    myPreferences.affectOnlyFirstMutable = false
    myPreferences["both"] = 2
    #expect(userDefaults["both"] as? Int == 2)
    #expect(copies["both"] as? Int == 2)
  }
}
