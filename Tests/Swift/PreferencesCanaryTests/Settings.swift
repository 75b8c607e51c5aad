import Foundation
import Prephirences

// A program in Swift 6 mode that uses preferences from several tasks. The first test is that it
// compiles without warnings.

struct Settings: Sendable {
  static let shared = Settings()
  static let launches = MutablePreference<Int>(key: "launches")

  @MutablePreference(key: "enabled")
  var enabled: Bool?

  @MutablePreferenceValue(key: "width")
  var width = 80

  @UserDefaultsPreference(key: "title")
  var title: String?

  @BundlePreference(coreFoundationKeys: .CFBundleName)
  var name: String?
}

@MainActor enum Interface {
  @MutablePreference(key: "zoom")
  static var zoom: Double?

  @PreferenceValue(key: "columns", default: 2)
  static var columns: Int
}

@MainActor final class Window {
  @MutablePreferenceValue(key: "height")
  var height = 25.5

  func grow() {
    height += 1
    $height *= 2
    Interface.zoom = height / Double(Interface.columns)
  }
}

enum Theme: String, Sendable { case light, dark }

extension TransformationKey {
  static let theme = TransformationKey.transformation(Theme.preferenceTransformation)
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
        prefixed["\(task)", .theme] = Theme.dark
        preferences["name", .lowercased] = "\(task)"
        count.apply { max($0 ?? 0, task) }
        Settings.launches.didSet { _, _ in }.transformationKey = .none
      }
    }
  }
  await MainActor.run { Window().grow() }
  return prefixed.dictionary().count
}
