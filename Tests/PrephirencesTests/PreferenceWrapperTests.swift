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
    @PreferenceValue var width: Int
    @MutablePreferenceValue var height: Double
    @MutablePreferenceValue var title: String

    init(_ store: MutableDictionaryPreferences) {
      _enabled = Preference(preferences: store, key: "enabled")
      _name = MutablePreference(preferences: store, key: "name")
      _mode = MutablePreference(preferences: store, key: "mode")
      _width = PreferenceValue(preferences: store, key: "width", default: 80)
      _height = MutablePreferenceValue(preferences: store, key: "height", default: 25)
      _title = MutablePreferenceValue(wrappedValue: "untitled", preferences: store, key: "title")
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
        @MutablePreferenceValue(key: "count", default: 1) var count: Int
        @MutablePreferenceValue(key: "size") var size = 2.5
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
}
