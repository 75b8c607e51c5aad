internal import KeychainCredentials
public import Prephirences

// A declared key takes references only; other keys, whatever the preferences take.
extension ReferencePreferences: FalliblePreferencesType {
  /// Returns the value of a key; another name for ``value(for:)``.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: As ``secret(for:)``.
  public func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    try value(for: key)
  }

  /// Returns all values, with references as they are.
  ///
  /// - Returns: The values by their keys.
  /// - Throws: The error of the preferences.
  public func fetchDictionary() throws -> PreferencesDictionary {
    try preferences.fetchedDictionary()
  }

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key. A declared key takes the text of a reference only.
  ///   - key: The key.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if a declared key would get
  ///   anything else, or if the preferences can only be read; the error of the preferences.
  public func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try storeObjects([(key, value)])
  }

  /// Sets the values of several keys; other keys keep theirs.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key.
  /// - Throws: As ``storeObject(_:forKey:)``; if a value is refused, none is stored.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws {
    for (key, value) in values { try checkWriting(value, key) }
    try mutable().replaceObjects(with: values)
  }

  /// Removes all keys and their values; credentials stay.
  ///
  /// - Throws: The error of the preferences.
  public func removeAllObjects() throws {
    let mutable = try mutable()
    guard let fallible = mutable as? any FalliblePreferencesType else { return mutable.clearAll() }
    try fallible.removeAllObjects()
  }

  /// Sets the value of a key, and ignores a failure; ``storeObject(_:forKey:)`` throws it.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    recorded { try storeObject(value, forKey: key) }
  }

  /// Removes a key and its value; the credential stays.
  public func removeObject(forKey key: PreferenceKey) {
    recorded { try storeObject(nil, forKey: key) }
  }

  /// Sets the values of several keys, and ignores a failure; ``storeObjects(_:)`` throws it.
  public func set(dictionary: PreferencesDictionary) {
    recorded { try storeObjects(withoutNulls(dictionary).map { ($0.key, $0.value) }) }
  }

  /// Removes all keys, and ignores a failure; ``removeAllObjects()`` throws it.
  public func clearAll() {
    recorded { try removeAllObjects() }
  }

  /// Records a value that was refused before it reached the preferences.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) { record(error) }

  private func mutable() throws(KeychainError) -> any MutablePreferencesType {
    guard let mutable = preferences as? any MutablePreferencesType else {
      throw KeychainError(.refused, "these preferences can only be read")
    }
    return mutable
  }
}
