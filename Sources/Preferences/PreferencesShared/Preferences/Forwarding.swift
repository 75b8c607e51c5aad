public import PreferencesDurable
public import PreferencesCore

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

extension SharedPreferences {
  /// The value of a key, or its default; see the subscript of ``DurablePreferences``.
  ///
  /// - Parameter key: The key.
  public subscript<Value>(key: Key<Value>) -> Value {
    get { durable[key] }
    set { durable[key] = newValue }
    _modify { yield &durable[key] }
  }

  /// Returns the value of a key, or its default if none is stored.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value.
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/typeMismatch`` if the stored value
  ///   is of another type.
  public func value<Value>(for key: Key<Value>) throws(PreferencesError) -> Value {
    try durable.value(for: key)
  }

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: ``PreferencesError`` as ``storeObject(_:forKey:)``.
  public func set<Value>(_ value: Value, for key: Key<Value>) throws(PreferencesError) {
    try durable.set(value, for: key)
  }

  /// Removes a key, so that it has its default.
  ///
  /// - Parameter key: The key; it may have no value.
  /// - Throws: ``PreferencesError``.
  public func remove<Value>(_ key: Key<Value>) throws(PreferencesError) {
    try durable.remove(key)
  }

  /// Returns whether a key has a stored value, of any type.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` if there is a value.
  /// - Throws: ``PreferencesError``.
  public func hasValue<Value>(for key: Key<Value>) throws(PreferencesError) -> Bool {
    try durable.hasValue(for: key)
  }

  /// Changes the value of a key in one step, so that no other change on this machine is lost.
  ///
  /// A change that another machine makes at the same time is a conflict.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - body: Changes the value. If it throws, nothing is changed.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws, or ``PreferencesError``.
  @discardableResult
  public func update<Value, Result>(
    _ key: Key<Value>, _ body: (inout Value) throws -> Result
  ) throws -> Result {
    try durable.update(key, body)
  }

  /// Changes the value of a key in one step, whatever its type; see ``update(_:_:)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - body: Changes the value; `nil` removes the key.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws, or ``PreferencesError``.
  @discardableResult
  public func updateObject<Result>(
    forKey key: PreferenceKey, _ body: (inout PreferenceObject?) throws -> Result
  ) throws -> Result {
    try durable.updateObject(forKey: key, body)
  }
}

extension SharedPreferences {
  /// Starts notifying an observer of changes: of this program, of others on this machine, and of
  /// other machines.
  ///
  /// - Parameter observer: The observer.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    // The observation keeps the file in step.
    let observation = durable.addObserver(observer)
    return PreferenceObservation { [store] in
      _ = store
      observation.cancel()
    }
  }

  /// Calls a closure with each change of a key's value, whoever makes it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - initial: Whether to call the closure with the present value before this returns.
  ///   - handler: Called with each change, one call at a time; see ``DurablePreferences``.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observe<Value>(
    _ key: Key<Value>, initial: Bool = false,
    _ handler: @escaping @Sendable (KeyChange<Value>) -> Void
  ) -> PreferenceObservation {
    let observation = durable.observe(key, initial: initial, handler)
    return PreferenceObservation { [store] in
      _ = store
      observation.cancel()
    }
  }

  /// Returns the future changes of a key's value, as a sequence.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - initial: Whether the sequence starts with the present value.
  /// - Returns: The sequence; a slow reader gets the last value, not each.
  public func changes<Value>(
    of key: Key<Value>, initial: Bool = false
  ) -> some AsyncSequence<KeyChange<Value>, Never> & Sendable {
    durable.changes(of: key, initial: initial)
  }
}

// What user defaults and commands need.

extension SharedPreferences: SynchronizingPreferences {}

extension SharedPreferences: CastableNumberPreferences {}

extension SharedPreferences: ExactKeyPreferences {
  package func pairs() -> [(PreferenceKey, PreferenceObject?)] { durable.pairs() }
}

extension SharedPreferences: ChangeReportingPreferences {
  package func observeChanges(
    _ handler: @escaping @Sendable () -> Void
  ) -> PreferenceObservation {
    durable.observeChanges(handler)
  }
}
