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
    if let value = unwrapped(value) { _ = try PropertyListForm.encode(value, forKey: key) }
    self[key] = value
    if writeImmediately, let error = lastError { throw error }
  }
}

extension Plist: SynchronizingPreferences {
  /// Writes all values to the file, as ``writeFile(atomically:)``.
  ///
  /// - Throws: As ``writeFile(atomically:)``.
  public func synchronize() throws(PreferencesError) { try writeFile() }
}
