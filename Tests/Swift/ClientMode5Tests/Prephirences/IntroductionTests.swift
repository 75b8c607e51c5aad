import Foundation
import Prephirences
import Testing

// The samples with `UserDefaults.standard` and the shared instance, which exist once per process:
// each test has its own process, and they run in order because they share a file.
@Suite("Introduction", .serialized)
struct IntroductionTests {
  struct ReadOnlySettings {
    @Preference(key: "enabled")
    var enabled: Bool?

    @UserDefaultsPreference(key: "my.string.pref")
    var pref: String?
  }

  struct Settings {
    @MutablePreference(preferences: UserDefaults.standard, key: "enabled")
    var enabled: Bool?
  }

  @Test func preferenceOfTheSharedInstance() async {
    await #expect(processExitsWith: .success) {
      UserDefaults.standard["my.string.pref"] = nil
      defer { UserDefaults.standard["my.string.pref"] = nil }
      Prephirences.sharedInstance = MutableDictionaryPreferences(dictionary: ["enabled": true])
      let settings = ReadOnlySettings()
      #expect(settings.enabled == true)
      #expect(settings.pref == nil)
      settings.pref = "value"
      #expect(settings.pref == "value")
      #expect(UserDefaults.standard.string(forKey: "my.string.pref") == "value")
    }
  }

  @Test func userDefaults() async {
    await #expect(processExitsWith: .success) {
      defer { for key in ["enabled", "mycolorkey"] { UserDefaults.standard[key] = nil } }
      let settings = Settings()
      settings.enabled = true
      var isRead = false
      let archive = TransformationKey.archive

      let userDefaults = UserDefaults.standard
      if let enabled = userDefaults["enabled"] as? Bool { isRead = enabled }
      userDefaults["mycolorkey", archive] = UIColor.blue

      #expect(isRead)
      #expect(userDefaults["mycolorkey", archive] as? UIColor == .blue)
      #expect(userDefaults["mycolorkey"] is Data)
    }
  }

  @Test func someImplementations() async {
    await #expect(processExitsWith: .success) {
      defer { UserDefaults.standard["mykey"] = nil }
      UserDefaults.standard["mykey"] = true
      var found: [Bool] = []

      let userDefaults = UserDefaults.standard
      if let myValue = userDefaults["mykey"] as? Bool { found.append(myValue) }

      #expect(found == [true])
      userDefaults["mykey"] = "myvalue"
      #expect(userDefaults.string(forKey: "mykey") == "myvalue")
      // with type to archive
      userDefaults["mykey", .Archive] = UIColor.blueColor()
      #expect(userDefaults.unarchiveObject(forKey: "mykey") as? UIColor == .blue)
    }
  }
}
