public import PreferencesDurable
public import Prephirences

extension SharedPreferences {
  /// Sets the value of a key; `nil` removes it.
  ///
  /// If it fails, the old value stays, and ``lastError`` has the reason.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    durable.set(value, forKey: key)
  }

  /// Removes a key and its value.
  ///
  /// - Parameter key: The key; it may have no value.
  public func removeObject(forKey key: PreferenceKey) { durable.removeObject(forKey: key) }

  /// Sets the values of several keys: of all, or if it fails, of none.
  ///
  /// They are sent in pieces; for one piece, call ``transaction(_:)``.
  ///
  /// - Parameter dictionary: The values by their keys; JSON's null values are left out.
  public func set(dictionary: PreferencesDictionary) { durable.set(dictionary: dictionary) }

  /// Removes all keys and their values; if it fails, none.
  ///
  /// The removals are sent in pieces.
  public func clearAll() { durable.clearAll() }

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: ``PreferencesError``; the old value then stays. With
  ///   ``PreferencesError/Code/overQuota`` if the suite would have too many keys or bytes, and with
  ///   ``PreferencesError/Code/readOnly`` if this machine may only read the store.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) {
    try durable.storeObject(value, forKey: key)
  }

  /// Sets or removes the values of several keys: of all, or if it fails, of none.
  ///
  /// They are sent in pieces; for one piece, call ``transaction(_:)``.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key.
  /// - Throws: ``PreferencesError`` as ``storeObject(_:forKey:)``.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws(PreferencesError) {
    try durable.storeObjects(values)
  }

  /// Removes all keys and their values: all, or if it fails, none.
  ///
  /// - Throws: ``PreferencesError``.
  public func removeAllObjects() throws(PreferencesError) { try durable.removeAllObjects() }

  /// Performs several reads and changes as one: all changes, or none, on every machine.
  ///
  /// The changes are sent as one, and other machines apply them as one. A conflict of one key is one
  /// of all. In everything else, it is a transaction of ``DurablePreferences``.
  ///
  /// - Parameter body: Reads and changes values. If it throws, nothing is changed.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws, or ``PreferencesError``, with
  ///   ``PreferencesError/Code/overQuota`` if there are more than 120 keys or 1 MiB to send as one.
  @discardableResult
  public func transaction<Result>(
    _ body: (Transaction) throws -> Result
  ) throws -> Result {
    try durable.transaction(body)
  }
}
