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

    private let encoding: KeyEncoding

    /// Names a preference; its value is the default if none is stored.
    public init(_ name: PreferenceKey, default defaultValue: Value) {
      self.init(name, defaultValue, KeyEncoding(of: Value.self))
    }

    /// Names a preference that may have no value.
    ///
    /// Setting `nil` removes it.
    public init<Wrapped: Sendable>(_ name: PreferenceKey, default defaultValue: Value = nil)
    where Value == Wrapped? {
      self.init(name, defaultValue, KeyEncoding(of: Wrapped.self))
    }

    private init(_ name: PreferenceKey, _ defaultValue: Value, _ encoding: KeyEncoding) {
      self.name = name
      self.defaultValue = defaultValue
      self.encoding = encoding
    }

    /// Returns the value of a stored object, or the default if there is none.
    func value(of stored: PreferenceValue?) throws(PreferencesError) -> Value {
      guard let stored else { return defaultValue }
      if let value: Value = encoding.decode(stored) { return value }
      throw PreferencesError(
        .typeMismatch,
        "the value of the key '\(name)' is not of type \(Value.self); "
          + "set a value of that type, or remove the key")
    }

    /// Returns the object to store for a value, or `nil` to remove the key.
    func stored(_ value: Value) throws(PreferencesError) -> PreferenceValue? {
      guard let value = unwrapped(value) else { return nil }
      return try encoding.encode(value, forKey: name)
    }
  }
}

/// How the values of a key are stored.
///
/// Unchecked because the transformations of types have no state.
struct KeyEncoding: @unchecked Sendable {
  private let transformation: any PreferenceTransformation

  init<Value>(of type: Value.Type) { transformation = DefaultTransformation.of(type) }

  /// Returns the value of a stored object, or `nil` if it is of another type.
  func decode<Value>(_ stored: PreferenceValue) -> Value? {
    PreferenceCast.cast(transformation.reverseTransformedValue(stored.object))
  }

  func encode(_ value: Any, forKey key: PreferenceKey) throws(PreferencesError) -> PreferenceValue?
  {
    if let stored = unwrapped(transformation.transformedValue(value)) {
      return try .stored(stored, forKey: key)
    }
    // Encoded again to find the reason of the failure.
    if let value = value as? any Encodable { _ = try CodableForm.encode(value, forKey: key) }
    throw .unstorable(type(of: value), forKey: key)
  }
}

extension DurablePreferencesType {
  /// The value of a key, or its default.
  ///
  /// A failure, or a stored value of another type, reads as the default, and
  /// ``DurablePreferences/lastError`` has the reason. A change in place, such as `settings[.count]
  /// += 1`, then changes nothing. It is two steps; for one, call ``update(_:_:)``.
  public subscript<Value>(key: DurablePreferences.Key<Value>) -> Value {
    get { durable.recorded { try value(for: key) } ?? key.defaultValue }
    nonmutating set { durable.recorded { try set(newValue, for: key) } }
    nonmutating _modify {
      do {
        var value = try self.value(for: key)
        yield &value
        durable.recorded { try set(value, for: key) }
      } catch {
        // The default must not replace a value that cannot be read.
        var value = key.defaultValue
        yield &value
        durable.failures.record(.any(error))
      }
    }
  }

  /// Returns the value of a key, or its default if none is stored.
  ///
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/typeMismatch`` if the stored
  ///   value is of another type.
  public func value<Value>(for key: DurablePreferences.Key<Value>) throws(PreferencesError) -> Value
  {
    try key.value(of: fetchValue(forKey: key.name))
  }

  /// Sets the value of a key; `nil` removes the key.
  ///
  /// - Throws: ``PreferencesError`` as `storeObject(_:forKey:)`.
  public func set<Value>(_ value: Value, for key: DurablePreferences.Key<Value>)
    throws(PreferencesError)
  {
    try storeValue(key.stored(value), forKey: key.name)
  }

  /// Removes a key, so that it has its default; throws ``PreferencesError``.
  public func remove<Value>(_ key: DurablePreferences.Key<Value>) throws(PreferencesError) {
    try storeValue(nil, forKey: key.name)
  }

  /// Whether a key has a stored value of any type; throws ``PreferencesError``.
  public func hasValue<Value>(for key: DurablePreferences.Key<Value>) throws(PreferencesError)
    -> Bool
  {
    try fetchValue(forKey: key.name) != nil
  }

  /// Changes the value of a key in one step, so that no other change on this machine is lost.
  ///
  /// Other threads and processes wait to write, so the closure must not take long. If the
  /// preferences are shared, a change that another machine makes at the same time is a conflict.
  ///
  /// - Parameter body: Changes the value. If it throws, nothing is changed.
  /// - Returns: The closure's result.
  /// - Throws: The closure's error, or ``PreferencesError``, with
  ///   ``PreferencesError/Code/typeMismatch`` if the stored value is of another type.
  @discardableResult
  public func update<Value, Result>(
    _ key: DurablePreferences.Key<Value>, _ body: (inout Value) throws -> Result
  ) throws -> Result {
    try transaction { _ in
      var value = try value(for: key)
      let result = try body(&value)
      try set(value, for: key)
      return result
    }
  }

  /// Changes the value of a key of any type in one step; see ``update(_:_:)``.
  ///
  /// Setting `nil` removes the key.
  ///
  /// - Throws: The closure's error, or ``PreferencesError``.
  @discardableResult
  public func updateValue<Result>(
    forKey key: PreferenceKey, _ body: (inout PreferenceValue?) throws -> Result
  ) throws -> Result {
    try transaction { _ in
      var value = try fetchValue(forKey: key)
      let result = try body(&value)
      try storeValue(value, forKey: key)
      return result
    }
  }

  /// Sets the value of a key, unless the stored value is not the expected one; `nil` removes the
  /// key.
  ///
  /// - Parameter expected: The value that must be stored; `nil` if none must be, whatever the
  ///   default.
  /// - Returns: Whether the value was set.
  /// - Throws: ``PreferencesError``.
  public func replace<Value>(
    _ key: DurablePreferences.Key<Value>, expecting expected: Value?, with value: Value?
  ) throws(PreferencesError) -> Bool {
    try durable.typed {
      let stored = try expected.flatMap { try key.stored($0) }
      let new = try value.flatMap { try key.stored($0) }
      return try transaction { _ in
        if try replaceValue(forKey: key.name, expecting: stored, with: new) { return true }
        // The same value may have several encodings.
        guard let stored, try isSame(stored, key) else { return false }
        try storeValue(new, forKey: key.name)
        return true
      }
    }
  }

  /// Sets the value of a key, unless the stored value is not the expected one; `nil` removes the
  /// key.
  ///
  /// Values are the same if they are stored as the same kind and bytes: the integer 1 is not 1.0,
  /// and text in another normalization is another text.
  ///
  /// - Parameter expected: The value that must be stored; `nil` if none must be.
  /// - Returns: Whether the value was set.
  /// - Throws: ``PreferencesError``.
  public func replaceValue(
    forKey key: PreferenceKey, expecting expected: PreferenceValue?, with value: PreferenceValue?
  ) throws(PreferencesError) -> Bool {
    try durable.typed {
      try value?.checkDepth(forKey: key)
      let (expected, new) = (expected?.encoded, value?.encoded)
      return try durable.engine().write(asOne: false) { transaction in
        guard try transaction.stored(KeyBytes(key)) == expected else { return false }
        try transaction.store(new, for: KeyBytes(key))
        return true
      }
    }
  }

  /// Whether the stored value of a key equals the one that another encoding stores.
  private func isSame<Value>(_ stored: PreferenceValue, _ key: DurablePreferences.Key<Value>)
    throws -> Bool
  {
    guard let present = try fetchValue(forKey: key.name),
      let one = try? key.value(of: present) as? any Equatable
    else { return false }
    return one.isSame(as: try key.value(of: stored))
  }
}

extension Equatable {
  fileprivate func isSame(as other: Any) -> Bool { other as? Self == self }
}
