/// Preferences whose reads and writes can fail, and report it.
///
/// The requirements of ``MutablePreferencesType`` read a failure as `nil` and ignore a failed
/// write. These throw it, so that a program can distinguish an absent value from one that cannot be
/// read now: a locked keychain, a damaged file.
///
/// A conforming type implements ``fetchObject(forKey:)`` and ``storeObject(_:forKey:)``. The others
/// have defaults.
public protocol FalliblePreferencesType: MutablePreferencesType {
  /// Returns the value of a key.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: The store's own error if the value cannot be read.
  func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject?

  /// Returns all values.
  ///
  /// - Returns: The values by their keys.
  /// - Throws: The store's own error if a value cannot be read. The default returns
  ///   ``PreferencesType/dictionary()``, and throws nothing.
  func fetchDictionary() throws -> PreferencesDictionary

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: The store's own error if the value was not stored; the old one then stays.
  func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws

  /// Sets the values of several keys; other keys keep theirs.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key. If a key is repeated,
  ///   its last value is stored.
  /// - Throws: The store's own error. The default stores the values one by one until one fails; a
  ///   store with transactions then changes nothing.
  func storeObjects(_ values: [(key: PreferenceKey, value: PreferenceObject?)]) throws

  /// Removes all keys and their values.
  ///
  /// - Throws: The store's own error. The default passes the keys of ``fetchDictionary()`` to
  ///   ``storeObjects(_:)``.
  func removeAllObjects() throws
}

extension FalliblePreferencesType {
  /// Returns all values; a value that cannot be read may be missing.
  public func fetchDictionary() throws -> PreferencesDictionary { dictionary() }

  /// Sets the values of several keys, one by one.
  public func storeObjects(_ values: [(key: PreferenceKey, value: PreferenceObject?)]) throws {
    for (key, value) in values { try storeObject(value, forKey: key) }
  }

  /// Removes all keys and their values.
  public func removeAllObjects() throws {
    try storeObjects(fetchDictionary().keys.map { ($0, nil) })
  }
}
