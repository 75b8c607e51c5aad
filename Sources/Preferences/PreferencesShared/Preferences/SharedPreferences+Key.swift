public import PreferencesDurable
public import Prephirences

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
