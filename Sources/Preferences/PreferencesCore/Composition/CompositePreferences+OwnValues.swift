/// A value of combined preferences is from the first ones that have it.
extension CompositePreferences: OwnValuePreferences {
  /// Returns the value of a key if it is the own one of the first preferences that have it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if there is none, or if it is from elsewhere.
  /// - Throws: The error of the first member that has the key or cannot read it.
  public func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    for preferences in array {
      // First, since members that combine others report a failure of these only here.
      if let own = try preferences.ownObject(forKey: key) { return own }
      if try preferences.fetchedObject(forKey: key) != nil { return nil }
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
