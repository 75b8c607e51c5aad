public import Prephirences

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
    ///
    /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/typeMismatch``.
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
