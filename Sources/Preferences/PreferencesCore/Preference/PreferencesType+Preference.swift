extension PreferencesType {
  /// Returns the preference of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The preference, even if the key has no value.
  public func preference<T>(forKey key: PreferenceKey) -> Preference<T> {
    Preference(preferences: self, key: key)
  }
}

extension MutablePreferencesType {
  /// Returns the preference of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The preference, even if the key has no value.
  public func preference<T>(forKey key: PreferenceKey) -> MutablePreference<T> {
    MutablePreference(preferences: self, key: key)
  }
}
