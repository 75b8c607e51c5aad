import Foundation
import Prephirences
import Testing

// The samples of the introduction. They use what a process has once, so each runs in one of its
// own, with its own folder of settings.
@Suite("Introduction")
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

  @Test func preferenceOfTheSharedInstance() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.url.path as String] in
      setenv("XDG_CONFIG_HOME", path, 1)
      Prephirences.sharedInstance = MutableDictionaryPreferences(dictionary: ["enabled": true])
      let settings = ReadOnlySettings()
      #expect(settings.enabled == true)
      #expect(settings.pref == nil)
      settings.pref = "value"
      #expect(settings.pref == "value")
      #expect(UserDefaults.standard.string(forKey: "my.string.pref") == "value")
    }
  }

  @Test func userDefaults() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.url.path as String] in
      setenv("XDG_CONFIG_HOME", path, 1)
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
    // On disk, without a call of `synchronize()`.
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
  }
}
