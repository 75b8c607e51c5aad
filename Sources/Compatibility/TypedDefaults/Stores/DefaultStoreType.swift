public import Prephirences

/// A store of one value.
public protocol DefaultStoreType<Default> {
  /// The type of the value.
  associatedtype Default: DefaultConvertible

  /// Sets the value.
  ///
  /// - Parameter value: The value; one that cannot be stored changes nothing, and ``lastError`` has
  ///   the reason.
  func set(_ value: Default)

  /// Returns the value.
  ///
  /// - Returns: The value, or `nil` if there is none or it cannot be read.
  func get() -> Default?

  /// Removes the value.
  func remove()

  /// Sets the value, and reports a failure.
  ///
  /// - Parameter value: The value.
  /// - Throws: `PreferencesError` with `unstorable` if the store cannot hold what the value is
  ///   serialized as, or the store's own error. The old value then stays. The default calls
  ///   ``set(_:)``, and throws nothing.
  func save(_ value: Default) throws

  /// Returns the value, and reports a failure.
  ///
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: `PreferencesError` with `typeMismatch` if what is stored is no such value, or the
  ///   store's own error. The default calls ``get()``, and throws nothing.
  func load() throws -> Default?

  /// Why the last ``set(_:)``, ``get()`` or ``remove()`` failed; `nil` if it succeeded. The default
  /// is `nil`.
  var lastError: PreferencesError? { get }
}

extension DefaultStoreType {
  /// Sets the value.
  public func save(_ value: Default) throws { set(value) }

  /// Returns the value.
  public func load() throws -> Default? { get() }

  /// `nil`: this store does not record failures.
  public var lastError: PreferencesError? { nil }
}
