import Foundation
import Prephirences
import Testing

@Suite("A program in Swift 6 mode")
struct PreferencesTests {
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
struct BackedDefaultsTests {
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

// A program in Swift 6 mode that uses preferences from several tasks. The first test is that it
// compiles without warnings.

struct Settings: Sendable {
  static let shared = Settings()
  static let launches = MutablePreference<Int>(key: "launches")

  @MutablePreference(key: "enabled")
  var enabled: Bool?

  @MutablePreferenceWithDefault(key: "width")
  var width = 80

  @UserDefaultsPreference(key: "title")
  var title: String?

  @BundlePreference(coreFoundationKeys: .CFBundleName)
  var name: String?
}

@MainActor enum Interface {
  @MutablePreference(key: "zoom")
  static var zoom: Double?

  @PreferenceWithDefault(key: "columns", default: 2)
  static var columns: Int
}

@MainActor final class MainWindow {
  @MutablePreferenceWithDefault(key: "height")
  var height = 25.5

  func grow() {
    height += 1
    $height *= 2
    Interface.zoom = height / Double(Interface.columns)
  }
}

enum Appearance: String, Sendable { case light, dark }

extension TransformationKey {
  static let theme = TransformationKey.transformation(Appearance.preferenceTransformation)
  static let lowercased = TransformationKey.closureTuple(
    transform: { ($0 as? String)?.lowercased() }, revert: { $0 })
}

enum Editor: Prephirencable {
  enum Font: Prephirencable {
    static var parent: any PreferencesType { Editor.instance }
  }
}

func countTasks(_ tasks: Int, in preferences: MutableDictionaryPreferences) async -> Int {
  let count: MutablePreference<Int> = preferences <| "count"
  let chain: MutableCompositePreferences = [preferences, UserDefaults.standard]
  let prefixed = MutableProxyPreferences(preferences: chain, key: "canary.")
  await withTaskGroup(of: Void.self) { group in
    for task in 0..<tasks {
      group.addTask {
        prefixed["\(task)", .theme] = Appearance.dark
        preferences["name", .lowercased] = "\(task)"
        count.apply { max($0 ?? 0, task) }
        Settings.launches.didSet { _, _ in }.transformationKey = .none
      }
    }
  }
  await MainActor.run { MainWindow().grow() }
  return prefixed.dictionary().count
}
