internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Reflection")
struct ReflectionTests {
  struct Address {
    var city = "Paris"
    var numbers = ["home": 1]
  }
  struct Settings: ReflectingPreferences {
    var color: String = "red"
    var age: Int
    let enabled: Bool = true
    var nickname: String?
    var address = Address()
  }
  class Base { var inherited = 1 }
  class Derived: Base, ReflectingPreferences { var own = "own" }

  @Test func structuresAndClasses() {
    let settings = Settings(age: 33)
    #expect(settings["color"] as? String == "red" && settings.integer(forKey: "age") == 33)
    #expect(settings.bool(forKey: "enabled") && settings["nickname"] == nil)
    #expect(settings["address.city"] as? String == "Paris" && settings["address.zip"] == nil)
    #expect(settings["address.numbers.home"] as? Int == 1 && settings[""] == nil)
    #expect(settings["."] == nil && settings["color."] == nil)
    #expect(settings.dictionary().keys.sorted() == ["address", "age", "color", "enabled"])
    #expect(Settings(age: 1, nickname: "x")["nickname"] as? String == "x")
    #expect(Derived().inherited == 1 && Derived()["own"] as? String == "own")
    #expect(Derived().dictionary().count == 2)
  }
}

@Suite("Key-value coding")
struct KVCPreferencesTests {
  final class City: PreferenceKeyPaths {
    var name = "Paris"
    static var preferenceKeyPaths: [AnyKeyPath] { [\City.name] }
  }
  final class Person {
    var color = "red"
    var age = 33
    var ratio: Float = 0.5
    var nickname: String?
    var city = City()
    let fixed = 1
  }
  class Open: PreferenceKeyPaths {
    var title = "title"
    var count = 1
    class var preferenceKeyPaths: [AnyKeyPath] { [\Open.title, \Open.count] }
  }
  final class Ambiguous: PreferenceKeyPaths {
    var doubled: Int {
      get { value * 2 }
      set { value = newValue / 2 }
    }
    var value = 1
    static var namedPreferenceKeyPaths: [PreferenceKey: AnyKeyPath] {
      ["double": \Ambiguous.doubled]
    }
  }

  @Test func listedPropertiesAreReadAndSet() {
    let person = Person()
    let preferences = MutableKVCPreferences(
      person, [\.color, \.age, \.ratio, \.nickname, \.city, \.fixed])
    #expect(preferences.namelessKeyPaths.isEmpty)
    #expect(preferences.keys().sorted() == ["age", "city", "color", "fixed", "ratio"])
    preferences["color"] = "blue"
    preferences["nickname"] = "Joe"
    preferences["age"] = 34.0
    preferences["ratio"] = 2
    #expect(person.color == "blue" && person.nickname == "Joe" && person.age == 34)
    #expect(person.ratio == 2 && preferences.lastError == nil)
    preferences["nickname"] = nil
    #expect(person.nickname == nil && preferences["nickname"] == nil)
    preferences["city.name"] = "Rome"
    #expect(person.city.name == "Rome" && preferences["city.name"] as? String == "Rome")
  }

  @Test func unsettableValueIsReported() {
    let person = Person()
    let preferences = MutableKVCPreferences(person, [\.color, \.age, \.fixed])
    let cases: [(String, Any?, PreferencesError.Code)] = [
      ("color", 1, .typeMismatch), ("age", "x", .typeMismatch), ("age", 1.5, .typeMismatch),
      ("age", nil, .typeMismatch), ("age", Int8?.none as Any, .typeMismatch),
      ("fixed", 2, .readOnly), ("absent", 1, .unknownKey), ("ratio", 1, .unknownKey),
      ("", 1, .unknownKey), ("color.x", 1, .unknownKey), (".", 1, .unknownKey),
    ]
    for (key, value, code) in cases {
      preferences[key] = value
      #expect(preferences.lastError?.code == code, "\(key)")
    }
    #expect(person.color == "red" && person.age == 33)
    preferences.clearAll()
    #expect(person.color == "red")
  }

  @Test func valuesBecomeThoseOfTheProperty() {
    enum Theme: String { case light, dark }
    enum Size: Int { case small = 1, large }
    final class Window {
      var scale: CGFloat = 1
      var theme = Theme.light
      var size: Size?
      var inset: CGFloat?
      var home: URL?
      var count = 0
      var isOpen = false
    }
    let window = Window()
    let preferences = MutableKVCPreferences(
      window,
      [
        "scale": \.scale, "theme": \.theme, "size": \.size, "inset": \.inset, "home": \.home,
        "count": \.count, "isOpen": \.isOpen,
      ])
    preferences.set(dictionary: [
      "scale": 1.5, "theme": "dark", "size": 2, "inset": 3, "home": "https://swift.org",
      "count": "7",
      "isOpen": "YES",
    ])
    #expect(preferences.lastError == nil)
    #expect(window.scale == 1.5 && window.theme == .dark && window.size == .large)
    #expect(window.inset == 3 && window.home?.host == "swift.org")
    #expect(window.count == 7 && window.isOpen)
    #expect(
      preferences.string(forKey: "theme") == "dark" && preferences.double(forKey: "scale") == 1.5)
    #expect(preferences.integer(forKey: "size") == 2 && preferences["theme"] as? Theme == .dark)
    let theme = MutablePreference<Theme>(preferences: preferences, key: "theme")
    theme.value = .light
    #expect(window.theme == .light && theme.value == .light)
    let text: MutablePreference<String> = preferences <| "theme"
    text.value = "dark"
    #expect(window.theme == .dark && text.value == "dark")
    preferences["size"] = nil
    #expect(window.size == nil)
    for (key, value) in [("theme", "blue"), ("size", 3), ("scale", "wide"), ("count", 1.5)]
      as [(String, Any)]
    {
      preferences[key] = value
      #expect(preferences.lastError?.code == .typeMismatch, "\(key)")
    }
    #expect(window.theme == .dark && window.scale == 1.5)
  }

  @Test func propertiesThatCannotBeSetAreNamed() {
    let preferences = MutableKVCPreferences(Person(), [\.color, \.fixed])
    #expect(preferences.readOnlyKeys == ["fixed"])
    preferences["fixed"] = 2
    #expect(preferences.lastError?.message.contains("'fixed' is read-only") == true)
    preferences.set(dictionary: ["color": "green", "fixed": 2, "zzz": 1])
    #expect(preferences.lastError?.code == .readOnly && preferences["color"] as? String == "green")
    #expect(throws: PreferencesError.self) { try preferences.assign(2, forKey: "fixed") }
  }

  @Test func classesListTheirProperties() {
    let object = Open()
    let preferences = MutableKVCPreferences(object)
    #expect(preferences.keys().sorted() == ["count", "title"])
    preferences["title"] = "new"
    #expect(object.title == "new" && preferences.integer(forKey: "count") == 1)
    let named = MutableKVCPreferences(Ambiguous())
    named["double"] = 8
    #expect(named["double"] as? Int == 8 && named["value"] == nil)
    let other = Ambiguous()
    let given = MutableKVCPreferences(other, ["a": \.value, "b": \.doubled])
    given["b"] = 6
    #expect(other.value == 3 && given.dictionary() as? [String: Int] == ["a": 3, "b": 6])
  }

  @Test func underivableNamesAreReported() {
    let preferences = KVCPreferences(Ambiguous(), [\.doubled, \.value])
    #expect(preferences.namelessKeyPaths == [\Ambiguous.doubled])
    #expect(preferences.keys() == ["value"])
  }

  @Test func structuresAreReflected() {
    let preferences = MutableKVCPreferences(ReflectionTests.Settings(age: 5))
    #expect(preferences["age"] as? Int == 5 && preferences["address.city"] as? String == "Paris")
    preferences["age"] = 6
    #expect(preferences.lastError?.code == .readOnly && preferences["age"] as? Int == 5)
    #expect(preferences.readOnlyKeys == ["address", "age", "color", "enabled"])
    #expect(KVCPreferences(Person())["color"] as? String == "red")
  }
}
