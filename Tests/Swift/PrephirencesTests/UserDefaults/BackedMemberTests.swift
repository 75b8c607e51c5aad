internal import Foundation
internal import Prephirences
internal import Testing

/// What takes user defaults or preferences acts on the preferences behind.
@Suite("Members over backed user defaults") struct BackedMemberTests {
  private enum Theme: String { case dark, light }

  private struct Point: Codable, Equatable {
    var x = 1
    var y = 2.5
  }

  private let store = MutableDictionaryPreferences()
  private let defaults: UserDefaults

  init() { defaults = BackedUserDefaults(preferences: store) }

  @Test func wrappersUseThePreferences() {
    let wrapper = UserDefaultsPreference<Point>(userDefaults: defaults, key: "point")
    wrapper.value = Point()
    #expect(store["point"] is Data)
    #expect(wrapper.value == Point())
    let theme = UserDefaultsPreferenceWithDefault(
      userDefaults: defaults, key: "theme", default: Theme.light)
    #expect(theme.wrappedValue == .light)
    theme.wrappedValue = .dark
    #expect(store["theme"] as? String == "dark")
  }

  @Test func preferencesAndOperatorsUseThePreferences() {
    let count: MutablePreference<Int> = defaults.preference(forKey: "count")
    count.value = 1
    count += 2
    #expect(store["count"] as? Int == 3)
    #expect(count.value == 3)
    let preferences: any MutablePreferencesType = defaults
    preferences.set(8080, forKey: "port")
    preferences.set(true, forKey: "open")
    preferences.set(URL(string: "https://example.org"), forKey: "url")
    #expect(store["port"] as? Int == 8080)
    #expect(store["open"] as? Bool == true)
    #expect(preferences.url(forKey: "url") == URL(string: "https://example.org"))
    #expect(preferences.string(forKey: "port") == "8080")
    #expect(preferences.hasObject(forKey: "port"))
    #expect(!preferences.hasObject(forKey: "absent"))
  }

  @Test func codableAndArchivedValuesAreStored() throws {
    try defaults.set(encodable: Point(), forKey: "point")
    #expect(try defaults.decodable(Point.self, forKey: "point") == Point())
    store["objects"] = ["x": 3, "y": 4] as [String: Any]
    #expect(try defaults.decodable(Point.self, forKey: "objects") == Point(x: 3, y: 4))
    defaults.set(objectToArchive: ["a", 1] as [Any], forKey: "archive")
    #expect((defaults.unarchiveObject(forKey: "archive") as? [Any])?.count == 2)
    #expect(store["archive"] is Data)
  }

  @Test func combinationsUseThePreferences() {
    let composite = MutableCompositePreferences([defaults, ["a": 1] as DictionaryPreferences])
    composite["b"] = 2
    #expect(store["b"] as? Int == 2)
    let proxy = MutableProxyPreferences(preferences: defaults, key: "server.")
    proxy["port"] = 80
    #expect(store["server.port"] as? Int == 80)
    proxy.clearAll()
    #expect(store["server.port"] == nil)
    let twice = BackedUserDefaults(preferences: defaults)
    twice.set(5, forKey: "twice")
    #expect(store["twice"] as? Int == 5)
    #expect(twice.object(forKey: "twice") as? Double == 5)
  }

  @Test func subscriptsAndKeyValueCodingAreTheSame() {
    defaults["a"] = 1
    defaults.b = 2
    defaults.setValue(3, forKey: "c")
    defaults.setValuesForKeys(["d": 4])
    defaults.set(CGFloat(1.5), forKey: "e")
    #expect(Set(store.dictionary().keys) == ["a", "b", "c", "d", "e"])
    #expect(defaults.value(forKey: "c") as? Int == 3)
    #expect(defaults.dictionaryWithValues(forKeys: ["a", "d"]).count == 2)
    #expect(defaults.b as? Int == 2)
  }
}
