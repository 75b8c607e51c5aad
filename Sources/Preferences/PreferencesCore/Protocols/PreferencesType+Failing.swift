extension PreferencesType {
  /// Returns the value of a key; throws if these preferences report that it cannot be read.
  package func fetchedObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    guard let fallible = self as? any FalliblePreferencesType else { return object(forKey: key) }
    return try fallible.fetchObject(forKey: key)
  }

  /// Returns all values; throws if these preferences report that one cannot be read.
  package func fetchedDictionary() throws -> PreferencesDictionary {
    try (self as? any FalliblePreferencesType)?.fetchDictionary() ?? dictionary()
  }
}

extension MutablePreferencesType {
  /// Sets or removes the value of a key; throws if these preferences report that they did not.
  package func replaceObject(with value: PreferenceObject?, forKey key: PreferenceKey) throws {
    if let fallible = self as? any FalliblePreferencesType {
      try fallible.storeObject(value, forKey: key)
    } else {
      self[key] = value
    }
  }

  /// Sets or removes the values of several keys; throws if these preferences report that they did
  /// not.
  package func replaceObjects(
    with values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws {
    if let fallible = self as? any FalliblePreferencesType {
      try fallible.storeObjects(values)
    } else {
      for (key, value) in values { self[key] = value }
    }
  }
}
