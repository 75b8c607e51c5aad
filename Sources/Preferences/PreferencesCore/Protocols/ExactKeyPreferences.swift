/// Preferences that compare keys by their bytes, so that a dictionary cannot hold all of them.
package protocol ExactKeyPreferences: PreferencesType {
  /// Returns all keys with their values; none if they cannot be read.
  func pairs() -> [(PreferenceKey, PreferenceObject?)]
}
