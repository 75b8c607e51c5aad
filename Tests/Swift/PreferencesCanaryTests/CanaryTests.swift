import Foundation
import Prephirences
import Testing

@Suite("A program in Swift 6 mode")
struct CanaryTests {
  @Test func tasksSharePreferences() async {
    await #expect(processExitsWith: .success) {
      let preferences: MutableDictionaryPreferences = [:]
      try await #require(countTasks(8, in: preferences) == 8)
      Settings.shared.enabled = true
      Settings.shared.width += 1
      try #require(Settings.shared.enabled == true && Settings.shared.$width.value == 81)
      try #require(Prephirences.sharedInstance["enabled"] as? Bool == true)
      try await #require(MainActor.run { Interface.zoom } == 26.5)
    }
  }
}

@Suite("User defaults over preferences, in Swift 6 mode")
struct BackedCanaryTests {
  @Test func anyPreferencesAreUserDefaults() throws {
    let preferences: MutableDictionaryPreferences = ["port": 8080]
    let defaults: UserDefaults = BackedUserDefaults(preferences: preferences)
    defaults["port"] = defaults.integer(forKey: "port") + 1
    #expect(preferences.integer(forKey: "port") == 8081)
    try defaults.storeObject(nil, forKey: "port")
    #expect(try defaults.fetchObject(forKey: "port") == nil)
    #expect(defaults.lastPreferencesError == nil)
  }
}
