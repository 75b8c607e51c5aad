/// A proxy reports the failures of the other preferences.
extension MutableProxyPreferences: FalliblePreferencesType {
  /// Returns the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The error of the other preferences.
  public func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    // A subclass may read values in its own way.
    guard type(of: self) == MutableProxyPreferences.self else { return object(forKey: key) }
    return try preferences.fetchedObject(forKey: full(key))
  }

  /// Returns all values below the prefix.
  ///
  /// - Returns: The values by their keys.
  /// - Throws: The error of the other preferences.
  public func fetchDictionary() throws -> PreferencesDictionary {
    guard type(of: self) == MutableProxyPreferences.self,
      !(preferences is any PreferencesAdapter)
    else { return dictionary() }
    return try preferences.fetchedDictionary().reduce(into: [:]) { all, element in
      if let local = local(element.key) { all[local] = element.value }
    }
  }

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: The error of the other preferences.
  public func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try storeObjects([(key, value)])
  }

  /// Sets the values of several keys.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key.
  /// - Throws: The error of the other preferences.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws {
    guard type(of: self) == MutableProxyPreferences.self,
      let preferences = preferences as? any MutablePreferencesType
    else {
      for (key, value) in values { self[key] = value }
      return
    }
    try preferences.replaceObjects(with: values.map { (full($0.key), $0.value) })
  }
}
