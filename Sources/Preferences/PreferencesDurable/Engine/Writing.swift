public import PreferencesCore

extension DurablePreferencesType {
  /// Sets the value of a key; `nil` removes it.
  ///
  /// If it fails, the old value stays, and ``DurablePreferences/lastError`` has the reason.
  public func set(_ value: PreferenceValue, forKey key: PreferenceKey) {
    durable.recorded { try storeValue(value, forKey: key) }
  }

  /// Sets the value of a key, which is stored as the one of a ``DurablePreferences/Key``; `nil`
  /// removes it.
  ///
  /// Text, numbers, dates, data, URLs, UUIDs, and arrays and dictionaries of these are stored as
  /// they are, an enumeration as its raw value, and any other value as the JSON data of its
  /// encoding.
  public func set<Value: Codable>(_ value: Value?, forKey key: PreferenceKey) {
    durable.recorded {
      let encoding = KeyEncoding(of: Value.self)
      try storeValue(value.flatMap { try encoding.encode($0, forKey: key) }, forKey: key)
    }
  }

  /// Sets the value of a key to what is stored for an object, as a subscript does; `nil` removes
  /// it.
  ///
  /// Code that is generic over `MutablePreferencesType` calls this; an object of
  /// a type that cannot be stored fails, and ``DurablePreferences/lastError`` has the reason.
  public func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    durable.recorded { try durable.store([(key, .stored(value, forKey: key))]) }
  }

  /// Removes a key and its value, if any.
  public func removeObject(forKey key: PreferenceKey) {
    durable.recorded { try durable.store([(key, nil)]) }
  }

  /// Sets the values of several keys, or none if it fails; JSON's null values are left out.
  ///
  /// If they are shared, they are sent one by one; for one transaction, call ``transaction(_:)``.
  public func set(dictionary: PreferencesDictionary) {
    durable.recorded { try storeObjects(dictionary) }
  }

  /// Removes all keys and their values, or none if it fails.
  ///
  /// If they are shared, the removals are sent one by one.
  public func clearAll() { durable.recorded { try durable.removeAll() } }

  /// Sets the value of a key; `nil` removes the key.
  ///
  /// - Throws: ``PreferencesError``; the old value then stays. If the preferences are shared, with
  ///   ``PreferencesError/Code/overQuota`` if there would be too many keys or bytes, and with
  ///   ``PreferencesError/Code/readOnly`` if this machine may only read the store.
  public func storeValue(
    _ value: PreferenceValue?, forKey key: PreferenceKey
  ) throws(PreferencesError) {
    try storeValues([(key, value)])
  }

  /// Sets the value of a key to what is stored for an object; see ``storeValue(_:forKey:)``.
  ///
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/unstorable`` if a part of the
  ///   object is of a type that cannot be stored.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) {
    try storeValue(.stored(value, forKey: key), forKey: key)
  }

  /// Sets the values of several keys, or none if it fails; JSON's null values are left out.
  ///
  /// If they are shared, they are sent one by one; for one transaction, call ``transaction(_:)``.
  ///
  /// - Throws: ``PreferencesError``.
  public func storeObjects(_ dictionary: PreferencesDictionary) throws(PreferencesError) {
    try durable.storeObjects(withoutNulls(dictionary).map { ($0, $1) })
  }

  /// Sets or removes the values of several keys: of all, or if it fails, of none.
  ///
  /// If they are shared, they are sent one by one; for one transaction, call ``transaction(_:)``.
  ///
  /// - Parameter values: The keys with their values; `nil` removes the key.
  /// - Throws: ``PreferencesError`` as ``storeValue(_:forKey:)``.
  public func storeValues(
    _ values: [(key: PreferenceKey, value: PreferenceValue?)]
  ) throws(PreferencesError) {
    try durable.typed { try durable.store(values) }
  }

  /// Sets the values of several keys to what is stored for objects; see ``storeValues(_:)``.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws(PreferencesError) {
    // All are converted first, so that one that cannot be stored changes nothing.
    try storeValues(
      values.map { pair throws(PreferencesError) in
        (pair.key, try PreferenceValue.stored(pair.value, forKey: pair.key))
      })
  }

  /// Removes all keys and their values, or throws ``PreferencesError`` and removes none.
  public func removeAllObjects() throws(PreferencesError) {
    try durable.typed { try durable.removeAll() }
  }

  /// Performs several reads and changes as one: all changes, or none.
  ///
  /// Calls on these preferences within the closure, on its thread, are a part of the transaction;
  /// other threads and processes see its changes after it. They wait to write, so the closure must
  /// not take long. Observers are notified afterwards.
  ///
  /// The changes of shared preferences are sent and applied as one, at most 120 keys and 1 MiB; a
  /// conflict of one key is a conflict of all.
  ///
  /// A transaction within the closure is a part of this one: if it throws, and the closure catches
  /// that, only its own changes are undone.
  ///
  /// - Parameter body: Reads and changes values. If it throws, nothing is changed.
  /// - Returns: The closure's result.
  /// - Throws: The closure's error, or ``PreferencesError``, with
  ///   ``PreferencesError/Code/overQuota`` if the preferences are shared and the closure changes
  ///   more than 120 keys or 1 MiB.
  @discardableResult
  public func transaction<Result>(
    _ body: (DurablePreferences.Transaction) throws -> Result
  ) throws -> Result {
    let engine = try durable.engine()
    return try engine.write(isBatch: true) { _ in
      try body(DurablePreferences.Transaction(durable))
    }
  }
}

extension DurablePreferences {
  /// Removes rows whose key is not text, which no call can name.
  package func removeDamagedKeys() throws(PreferencesError) {
    try typed { try engine().write(asOne: false, repeats: true) { try $0.removeDamagedKeys() } }
  }

  /// Fails as the changes would, without making them or creating a file.
  package func rehearse(
    _ values: [(key: PreferenceKey, value: PreferenceValue?)], inPieces: Bool
  ) throws(PreferencesError) {
    try typed { try engine().rehearse(encoded(values), isBatch: !inPieces) }
  }

  private func encoded(
    _ values: [(key: PreferenceKey, value: PreferenceValue?)]
  ) throws(PreferencesError) -> [(key: KeyBytes, value: PreferenceValue.Encoded?)] {
    try values.map { key, value throws(PreferencesError) in
      try value?.checkDepth(forKey: key)
      return (KeyBytes(key), value?.encoded)
    }
  }

  func store(_ values: [(key: PreferenceKey, value: PreferenceValue?)]) throws {
    let encoded = try encoded(values)
    let engine = try engine()
    if encoded.allSatisfy({ $0.1 == nil }), try engine.isWithout(encoded.map(\.0)) { return }
    try engine.write(asOne: encoded.count > 1, repeats: true) { transaction in
      for (key, value) in encoded { try transaction.store(value, for: key) }
    }
  }

  func removeAll() throws {
    let engine = try engine()
    if try engine.isWithout(nil) { return }
    try engine.write(asOne: false, repeats: true) { try $0.removeAll() }
  }

  /// Performs several reads and changes as one on this machine, as ``transaction(_:)`` does.
  ///
  /// If the disk is full, the closure is called again when that has freed space. If the file is
  /// shared and `isBatch` is false, the changes are sent as single ones: their number is not
  /// limited, and a conflict of one key is not a conflict of all.
  package func repeatableTransaction(isBatch: Bool, _ body: () throws -> Void) throws {
    try engine().write(isBatch: isBatch, repeats: true) { _ in try body() }
  }

  /// Several reads and changes of preferences that are performed as one.
  public struct Transaction {
    private let preferences: DurablePreferences

    init(_ preferences: DurablePreferences) { self.preferences = preferences }

    /// Returns the value of a key in the transaction, or `nil`; throws ``PreferencesError``.
    public func object(forKey key: PreferenceKey) throws(PreferencesError) -> PreferenceObject? {
      try preferences.fetchObject(forKey: key)
    }

    /// Sets the value of a key; `nil` removes it.
    ///
    /// - Throws: ``PreferencesError``.
    public func set(
      _ value: PreferenceObject?, forKey key: PreferenceKey
    ) throws(PreferencesError) {
      try preferences.storeObject(value, forKey: key)
    }

    /// Removes a key and its value, if any; throws ``PreferencesError``.
    public func removeObject(forKey key: PreferenceKey) throws(PreferencesError) {
      try preferences.storeObject(nil, forKey: key)
    }

    /// Removes all keys and their values; throws ``PreferencesError``.
    public func removeAll() throws(PreferencesError) { try preferences.removeAllObjects() }

    /// Returns all values in the transaction by their keys; throws ``PreferencesError``.
    public func dictionary() throws(PreferencesError) -> PreferencesDictionary {
      try preferences.fetchAllObjects()
    }
  }
}
