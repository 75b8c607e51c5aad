import Foundation
import Prephirences
import Testing

// The examples of the README and the module's documentation; serialized with the other tests of
// `UserDefaults.standard`.
extension IntroductionTests {
  struct ReadmeSettings {
    @UserDefaultsPreference(key: "readme.theme") var theme: String?
    @UserDefaultsPreferenceWithDefault(key: "readme.columns", default: 80) var columns: Int
  }

  @Test func readme() async {
    await #expect(processExitsWith: .success) {
      let defaults = UserDefaults.standard
      defer { for key in ["readme.width", "readme.theme"] { defaults[key] = nil } }
      defaults["readme.width"] = 1024.5
      #expect(defaults.double(forKey: "readme.width") == 1024.5)
      #expect(defaults["readme.theme"] as? String ?? "light" == "light")
      #expect(ReadmeSettings().columns == 80)

      let settings: MutableCompositePreferences = [
        ArgumentPreferences(), EnvironmentPreferences(), defaults,
        DictionaryPreferences(["readme.port": 8080]),
      ]
      #expect(settings.integer(forKey: "readme.port") == 8080)

      let told = Told()
      let observation = settings.observe(forKey: "readme.theme") { change in
        told.add(change.newValue ?? "none")
      }
      ReadmeSettings().theme = "dark"
      #expect(told.all as? [String] == ["dark"])
      observation.cancel()

      for await theme in ReadmeSettings().$theme.values() {
        #expect(theme == "dark")
        break
      }
    }
  }
}

/// Records what an observer received on the test's thread.
private final class Told: @unchecked Sendable {
  private(set) var all: [Any] = []

  func add(_ value: Any) { all.append(value) }
}
