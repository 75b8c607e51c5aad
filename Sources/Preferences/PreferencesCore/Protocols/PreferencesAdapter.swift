/// Preferences that list their keys; their dictionary is derived from the list.
public protocol PreferencesAdapter: PreferencesType {
  /// Returns the keys that have values.
  ///
  /// - Returns: Each key once.
  func keys() -> [String]
}

extension PreferencesAdapter {
  /// Returns all preferences, read key by key.
  ///
  /// - Returns: The values by their keys.
  public func dictionary() -> PreferencesDictionary {
    keys().reduce(into: [:]) { $0[$1] = object(forKey: $1) }
  }
}
