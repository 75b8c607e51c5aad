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
