import Foundation
import Prephirences
import Testing

struct PreferenceStruct {
  var color: String = "red"
  var age: Int
  let enabled: Bool = true
}
extension PreferenceStruct: ReflectingPreferences {}

@Suite("Some implementations")
struct ImplementationTests {
  @Test func mainBundle() {
    let bundle = Bundle.main
    let applicationName = bundle[.CFBundleName] as? String

    // A program built by the package manager has no such file.
    #expect(applicationName == nil)
  }

  @Test func bundle() throws {
    let folder = try TemporaryFolder()
    try PropertyListEncoder().encode(["CFBundleName": "Sample"])
      .write(to: URL(fileURLWithPath: folder.path("Info.plist")))
    let bundle = try #require(Bundle(path: folder.url.path))
    #expect(bundle[.CFBundleName] as? String == "Sample")
    #expect(bundle.string(forKey: "CFBundleName") == "Sample")
  }

  @Test func reflection() {
    var found: String?

    var pref = PreferenceStruct(color: "red", age: 33)
    if let color = pref["color"] as? String { found = color }

    #expect(found == "red")
    #expect(pref.integer(forKey: "age") == 33)
    #expect(pref.bool(forKey: "enabled"))
    #expect(pref.dictionary().count == 3)
  }

  @Test func plist() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("prefs.plist")
    try PropertyListEncoder().encode(["myKey": "myValue"]).write(to: URL(fileURLWithPath: path))

    // You can use Plist (with the useful write method)
    let plist = try #require(Plist(filePath: path))
    plist["newKey"] = 1
    #expect(plist.write())
    // You can init DictionaryPreferences or MutableDictionaryPreferences with plist file
    let immutable = try #require(DictionaryPreferences(filePath: path))
    let mutable = try #require(MutableDictionaryPreferences(filePath: path))
    // You can read dictionary from plist file and use set(dictionary: on any mutable preferences
    let others = MutableDictionaryPreferences()
    others.set(dictionary: immutable.dictionary())

    for preferences in [immutable, mutable, others] as [PreferencesType] {
      #expect(preferences.string(forKey: "myKey") == "myValue")
      #expect(preferences.integer(forKey: "newKey") == 1)
    }
  }
}
