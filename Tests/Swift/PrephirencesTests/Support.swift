internal import Prephirences

/// The minimum implementation of mutable preferences.
final class MinimalPreferences: MutablePreferencesType {
  private var values: PreferencesDictionary

  init(_ values: PreferencesDictionary = [:]) { self.values = values }

  func object(forKey key: PreferenceKey) -> PreferenceObject? { values[key] }
  func dictionary() -> PreferencesDictionary { values }
  func set(_ value: PreferenceObject?, forKey key: PreferenceKey) { values[key] = value }
  func removeObject(forKey key: PreferenceKey) { values[key] = nil }
}

/// Preferences that list only their keys.
struct AdaptedPreferences: PreferencesAdapter {
  func keys() -> [String] { ["a", "b"] }
  func object(forKey key: PreferenceKey) -> PreferenceObject? { key + key }
}
