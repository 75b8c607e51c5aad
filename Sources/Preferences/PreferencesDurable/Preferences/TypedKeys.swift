public import PreferencesCore

extension DurablePreferences {
  /// The name of a preference, the type of its value, and the value if none is stored.
  ///
  /// ```swift
  /// extension DurablePreferences.Key<Int> {
  ///   static var port: Self { Self("port", default: 8080) }
  /// }
  ///
  /// let settings = DurablePreferences(suiteName: "com.example.server")
  /// settings[.port] = 8081
  /// ```
  ///
  /// The value can be of a type that ``DurablePreferences`` stores, an enumeration of such raw
  /// values, or `Codable`.
  public struct Key<Value: Sendable>: Sendable {
    /// The name.
    public let name: PreferenceKey

    /// The value if none is stored.
    public let defaultValue: Value

    private let form: KeyForm

    /// Names a preference.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - defaultValue: The value if none is stored.
    public init(_ name: PreferenceKey, default defaultValue: Value) {
      self.init(name, defaultValue, KeyForm(Value.self))
    }

    /// Names a preference that may have no value.
    ///
    /// Setting `nil` removes it.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - defaultValue: The value if none is stored.
    public init<Wrapped: Sendable>(_ name: PreferenceKey, default defaultValue: Value = nil)
    where Value == Wrapped? {
      self.init(name, defaultValue, KeyForm(Wrapped.self))
    }

    private init(_ name: PreferenceKey, _ defaultValue: Value, _ form: KeyForm) {
      self.name = name
      self.defaultValue = defaultValue
      self.form = form
    }

    /// Returns the value of what is stored; the default if nothing is.
    func value(of stored: PreferenceObject?) throws(PreferencesError) -> Value {
      guard let stored = unwrapped(stored) else { return defaultValue }
      if let value = form.value(of: stored, forKey: name) as? Value { return value }
      throw PreferencesError(
        .typeMismatch,
        "the value of the key '\(name)' is not of type \(Value.self); "
          + "set a value of that type, or remove the key")
    }

    /// Returns what to store for a value; `nil` to remove the key.
    func stored(_ value: Value) throws(PreferencesError) -> PreferenceObject? {
      guard let value = unwrapped(value) else { return nil }
      return try form.stored(value, forKey: name)
    }
  }
}

/// How the values of a key are stored.
///
/// Unchecked because the transformations of types have no state.
struct KeyForm: @unchecked Sendable {
  private let transformation: any PreferenceTransformation
  private let read:
    @Sendable (any PreferenceTransformation, SinglePreference, PreferenceKey) -> Any?

  init<Value>(_ type: Value.Type) {
    transformation = DefaultTransformation.of(type)
    read = { transformation, store, key in
      let value: Value? = transformation.get(key, from: store)
      return value
    }
  }

  func value(of stored: Any, forKey key: PreferenceKey) -> Any? {
    unwrapped(read(transformation, SinglePreference(stored), key))
  }

  func stored(_ value: Any, forKey key: PreferenceKey) throws(PreferencesError) -> Any? {
    let store = SinglePreference(nil)
    transformation.set(key, value: value, to: store)
    if let refusal = store.refusal { throw refusal }
    return store.value
  }
}

extension DurablePreferences {
  /// The value of a key, or its default.
  ///
  /// A failure, or a stored value of another type, reads as the default, and ``lastError`` has the
  /// reason. A change in place, such as `settings[.count] += 1`, then changes nothing. It is two
  /// steps; for one, call ``update(_:_:)``.
  ///
  /// - Parameter key: The key.
  public subscript<Value>(key: Key<Value>) -> Value {
    get { recorded { try value(for: key) } ?? key.defaultValue }
    set { recorded { try set(newValue, for: key) } }
    _modify {
      do {
        var value = try self.value(for: key)
        yield &value
        recorded { try set(value, for: key) }
      } catch {
        // The default must not replace a value that cannot be read.
        var value = key.defaultValue
        yield &value
        failures.record(error)
      }
    }
  }

  /// Returns the value of a key, or its default if none is stored.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value.
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/typeMismatch`` if the stored value
  ///   is of another type.
  public func value<Value>(for key: Key<Value>) throws(PreferencesError) -> Value {
    try key.value(of: fetchObject(forKey: key.name))
  }

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: ``PreferencesError``; the old value then stays.
  public func set<Value>(_ value: Value, for key: Key<Value>) throws(PreferencesError) {
    try storeObject(key.stored(value), forKey: key.name)
  }

  /// Removes a key, so that it has its default.
  ///
  /// - Parameter key: The key; it may have no value.
  /// - Throws: ``PreferencesError``.
  public func remove<Value>(_ key: Key<Value>) throws(PreferencesError) {
    try storeObject(nil, forKey: key.name)
  }

  /// Returns whether a key has a stored value, of any type.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` if there is a value.
  /// - Throws: ``PreferencesError``.
  public func hasValue<Value>(for key: Key<Value>) throws(PreferencesError) -> Bool {
    try fetchObject(forKey: key.name) != nil
  }

  /// Changes the value of a key in one step, so that no other change is lost.
  ///
  /// Other threads and processes wait to write, so the closure must not take long.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - body: Changes the value. If it throws, nothing is changed.
  /// - Returns: What the closure returns.
  /// - Throws: What the closure throws, or ``PreferencesError``, with
  ///   ``PreferencesError/Code/typeMismatch`` if the stored value is of another type.
  @discardableResult
  public func update<Value, Result>(
    _ key: Key<Value>, _ body: (inout Value) throws -> Result
  ) throws -> Result {
    try transaction { _ in
      var value = try value(for: key)
      let result = try body(&value)
      try set(value, for: key)
      return result
    }
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
    try transaction { _ in
      var value = try fetchObject(forKey: key)
      let result = try body(&value)
      try storeObject(value, forKey: key)
      return result
    }
  }

  /// Sets the value of a key, unless the stored value is not the expected one.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - expected: The value that must be stored; `nil` if none must be, whatever the default.
  ///   - value: The new value; `nil` removes the key.
  /// - Returns: Whether the value was set.
  /// - Throws: ``PreferencesError``.
  public func replace<Value>(
    _ key: Key<Value>, expecting expected: Value?, with value: Value?
  ) throws(PreferencesError) -> Bool {
    let stored = try expected.flatMap { expected throws(PreferencesError) in
      try key.stored(expected)
    }
    let new = try value.flatMap { value throws(PreferencesError) in try key.stored(value) }
    return try typed {
      try transaction { _ in
        if try replaceObject(forKey: key.name, expecting: stored, with: new) { return true }
        // The same value may have several encodings.
        guard let stored, try isSame(stored, key) else { return false }
        try storeObject(new, forKey: key.name)
        return true
      }
    }
  }

  /// Sets the value of a key, unless the stored value is not the expected one.
  ///
  /// Values are the same if they are stored as the same kind and bytes: the integer 1 is not 1.0,
  /// and text in another normalization is another text.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - expected: The value that must be stored; `nil` if none must be.
  ///   - value: The new value; `nil` removes the key.
  /// - Returns: Whether the value was set.
  /// - Throws: ``PreferencesError``.
  public func replaceObject(
    forKey key: PreferenceKey, expecting expected: PreferenceObject?,
    with value: PreferenceObject?
  ) throws(PreferencesError) -> Bool {
    try typed {
      let (expected, new) = (try stored(expected, key), try stored(value, key))
      return try engine().write(asOne: false) { transaction in
        guard try transaction.stored(KeyBytes(key)) == expected else { return false }
        try transaction.store(new, for: KeyBytes(key))
        return true
      }
    }
  }

  private func stored(
    _ value: PreferenceObject?, _ key: PreferenceKey
  ) throws(PreferencesError) -> StoredValue? {
    guard let value = unwrapped(value) else { return nil }
    return try ValueEncoder.encode(value, forKey: key)
  }

  /// Whether the stored value of a key equals the value that another one stores.
  private func isSame<Value>(_ stored: PreferenceObject, _ key: Key<Value>) throws -> Bool {
    guard let present = try fetchObject(forKey: key.name),
      let one = try? key.value(of: present) as? any Equatable
    else { return false }
    return one.isSame(as: try key.value(of: stored))
  }
}

extension Equatable {
  fileprivate func isSame(as other: Any) -> Bool { other as? Self == self }
}
