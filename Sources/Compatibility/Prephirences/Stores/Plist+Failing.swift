/// A property list reports values that it cannot hold, and failed writes.
extension Plist: FalliblePreferencesType {
  /// Returns the value of a key; it never throws, because the values are in memory.
  public func fetchObject(forKey key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` for a value that a
  ///   property list cannot hold, before anything is changed. If ``writeImmediately`` is `true`,
  ///   also as ``writeFile(atomically:)``; the value is then in memory only.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) {
    try storeObjects([(key, value)])
  }

  /// Sets the values of several keys: of all, or of none if it cannot hold one of the values.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key.
  /// - Throws: As ``storeObject(_:forKey:)``.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws(PreferencesError) {
    let values = values.map { ($0.key, unwrapped($0.value)) }
    for (key, value) in values {
      if let value { _ = try PropertyListForm.encode(value, forKey: key) }
    }
    if values.count == 1, let (key, value) = values.first {
      self[key] = value
    } else {
      for (key, value) in values where value == nil { removeObject(forKey: key) }
      set(dictionary: values.reduce(into: [:]) { $0[$1.0] = $1.1 })
    }
    if writeImmediately, let error = lastError { throw error }
  }
}

extension Plist: SynchronizingPreferences {
  /// Writes all values to the file, as ``writeFile(atomically:)``.
  ///
  /// - Throws: As ``writeFile(atomically:)``.
  public func synchronize() throws(PreferencesError) { try writeFile() }
}
