internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Property wrappers")
struct PreferenceWrapperTests {
  enum Mode: Int { case slow = 1, fast }

  private struct Settings {
    @Preference var enabled: Bool?
    @MutablePreference var name: String?
    @MutablePreference var mode: Mode?
    @PreferenceWithDefault var width: Int
    @MutablePreferenceWithDefault var height: Double
    @MutablePreferenceWithDefault var title: String

    init(_ store: MutableDictionaryPreferences) {
      _enabled = Preference(preferences: store, key: "enabled")
      _name = MutablePreference(preferences: store, key: "name")
      _mode = MutablePreference(preferences: store, key: "mode")
      _width = PreferenceWithDefault(preferences: store, key: "width", default: 80)
      _height = MutablePreferenceWithDefault(preferences: store, key: "height", default: 25)
      _title = MutablePreferenceWithDefault(
        wrappedValue: "untitled", preferences: store, key: "title")
    }
  }

  private let store: MutableDictionaryPreferences = ["enabled": true]

  @Test func wrappedValuesAreThoseOfTheStore() {
    let settings = Settings(store)
    #expect(settings.enabled == true && settings.name == nil)
    settings.name = "x"
    settings.mode = .fast
    #expect(store["name"] as? String == "x" && store["mode"] as? Int == 2)
    #expect(settings.mode == .fast)
    settings.name = nil
    #expect(!store.hasObject(forKey: "name"))
  }

  @Test func defaultsAreReadWhereThereIsNoValue() {
    let settings = Settings(store)
    #expect(settings.width == 80 && settings.height == 25 && settings.title == "untitled")
    #expect(store.dictionary().keys.sorted() == ["enabled"], "and not stored")
    store["width"] = "no number"
    #expect(settings.width == 80)
    store["width"] = 100
    store["height"] = 30
    #expect(settings.width == 100 && settings.height == 30)
    settings.height += 1
    settings.title += "!"
    #expect(store["height"] as? Double == 31 && store["title"] as? String == "untitled!")
    settings.$title.clear()
    #expect(settings.title == "untitled")
  }

  @Test func theProjectedValueIsThePreference() {
    let settings = Settings(store)
    settings.$height += 5
    #expect(settings.$height.value == 5, "the operator knows no default")
    #expect(settings.$enabled.hasValue && !settings.$name.hasValue && settings.$width.isEmpty)
    settings.$name.value = "set"
    #expect(settings.$name.didSet { _, _ in }.value == "set")
  }

  @Test func wrappersOfTheProgramsPreferences() async {
    await #expect(processExitsWith: .success) {
      struct Program {
        @Preference(key: "enabled") var enabled: Bool?
        @MutablePreference(key: "enabled") var mutable: Bool?
        @MutablePreferenceWithDefault(key: "count", default: 1) var count: Int
        @MutablePreferenceWithDefault(key: "size") var size = 2.5
      }
      let store: MutableDictionaryPreferences = ["enabled": true]
      Prephirences.sharedInstance = store
      let program = Program()
      Prephirences.sharedInstance = DictionaryPreferences(dictionary: [:])
      try #require(program.enabled == true)
      program.mutable = false
      program.count += 1
      program.size += 1
      try #require(program.enabled == false, "the preferences are those of its making")
      try #require(store["count"] as? Int == 2 && store["size"] as? Double == 3.5)
      try #require(Program().enabled == nil)
    }
  }

  @Test func wrappersOfUserDefaultsAreSaved() throws {
    let suite = "wrappers-\(UUID().uuidString)"
    let environment = ProcessInfo.processInfo.environment
    let folder = environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
    let path = "\(folder)/\(suite).plist"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let defaults = try #require(UserDefaults(suiteName: suite))
    @UserDefaultsPreference(userDefaults: defaults, key: "my.string.pref") var pref: String?
    @UserDefaultsPreference(userDefaults: defaults, key: "mode") var mode: Mode?
    @UserDefaultsPreference(userDefaults: defaults, key: "sizes") var sizes: Set<Int>?
    @UserDefaultsPreferenceWithDefault(userDefaults: defaults, key: "width", default: 80)
    var width: Int
    @UserDefaultsPreferenceWithDefault(userDefaults: defaults, key: "title") var title = "untitled"
    pref = "text"
    mode = .fast
    sizes = [3]
    #expect(width == 80 && title == "untitled")
    width += 1
    $title += "!"
    let file = try Plist(contentsOfFile: path)
    #expect(file["my.string.pref"] as? String == "text" && file.integer(forKey: "mode") == 2)
    #expect(file.integer(forKey: "width") == 81 && file.string(forKey: "title") == "!")
    #expect(mode == .fast && sizes == [3])
    $pref.clear()
    #expect(pref == nil)
  }

  @Test func wrappersOfABundleReadItsPropertyList() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let list = try PropertyListSerialization.data(
      fromPropertyList: ["CFBundleName": "tool", "tries": 3], format: .xml, options: 0)
    try list.write(to: folder.appending(path: "Info.plist"))
    let bundle = try #require(Bundle(url: folder))
    @BundlePreference(bundle: bundle, key: "CFBundleName") var name: String?
    @BundlePreference(bundle: bundle, coreFoundationKeys: .CFBundleName) var same: String?
    @BundlePreference(bundle: bundle, coreFoundationKeys: .CFBundleVersion) var version: String?
    @BundlePreferenceWithDefault(bundle: bundle, key: "tries", default: 1) var tries: Int
    @BundlePreferenceWithDefault(bundle: bundle, key: "absent") var absent = 5.5
    #expect(name == "tool" && same == "tool" && version == nil && tries == 3 && absent == 5.5)
    @BundlePreference(key: "absent") var main: String?
    #expect(main == nil && $name.hasValue)
  }
}
