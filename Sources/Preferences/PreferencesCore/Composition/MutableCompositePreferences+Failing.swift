/// Combined preferences report the failures of their members.
extension MutableCompositePreferences: FalliblePreferencesType {
  /// Returns the value of a key, from the first preferences that have it.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The error of the first member that has the key or cannot read it: that member could
  ///   have a value that hides those of the others.
  public func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    // A subclass may read values in its own way.
    guard type(of: self) == MutableCompositePreferences.self else { return object(forKey: key) }
    for preferences in array {
      if let value = try preferences.fetchedObject(forKey: key) { return value }
    }
    return nil
  }

  /// Returns all values; a key's value is from the first preferences that have it.
  ///
  /// - Returns: The values by their keys.
  /// - Throws: The first error of a member.
  public func fetchDictionary() throws -> PreferencesDictionary {
    guard type(of: self) == MutableCompositePreferences.self else { return dictionary() }
    return try array.reversed().reduce(into: [:]) { all, preferences in
      try all.merge(preferences.fetchedDictionary()) { $1 }
    }
  }

  /// Sets the value of a key, in the first mutable preferences or in all.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: The first error of a member; those after it did not change.
  public func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try storeObjects([(key, value)])
  }

  /// Sets the values of several keys, in the first mutable preferences or in all.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key.
  /// - Throws: The first error of a member; those after it did not change.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws {
    guard type(of: self) == MutableCompositePreferences.self else {
      for (key, value) in values { self[key] = value }
      return
    }
    for preferences in affectOnlyFirstMutable ? Array(mutableArray.prefix(1)) : mutableArray {
      try preferences.replaceObjects(with: values)
    }
  }

  /// Removes all keys from all mutable preferences.
  ///
  /// - Throws: The first error of a member; those after it did not change.
  public func removeAllObjects() throws {
    guard type(of: self) == MutableCompositePreferences.self else { return clearAll() }
    for preferences in mutableArray {
      if let fallible = preferences as? any FalliblePreferencesType {
        try fallible.removeAllObjects()
      } else {
        preferences.clearAll()
      }
    }
  }
}
