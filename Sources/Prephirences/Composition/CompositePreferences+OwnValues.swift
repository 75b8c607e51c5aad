/// A value of combined preferences is from the first ones that have it.
extension CompositePreferences: OwnValuePreferences {
  /// Returns the value of a key if it is the own one of the first preferences that have it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if there is none, or if it is from elsewhere.
  /// - Throws: The error of the first member that has the key or cannot read it.
  public func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    for preferences in array where try preferences.fetchedObject(forKey: key) != nil {
      return try preferences.ownObject(forKey: key)
    }
    return nil
  }
}

/// A value of a proxy is that of the other preferences.
extension ProxyPreferences: OwnValuePreferences {
  /// Returns the value of a key if it is an own one of the other preferences.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if there is none, or if it is from elsewhere.
  /// - Throws: The error of the other preferences.
  public func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    try preferences.ownObject(forKey: full(key))
  }
}
