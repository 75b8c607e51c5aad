/// The name of a value, its type, and its default.
///
/// A default is only returned: it is neither stored nor registered.
public struct DefaultsKey<ValueType: DefaultsSerializable> {
  /// The name under which the value is stored.
  public let _key: String

  /// The value that is read where none is stored; `nil` for an optional type without a default.
  public let defaultValue: ValueType.T?

  /// The value that is read where none is stored.
  @usableFromInline let missing: ValueType.T

  /// Creates a key with a default.
  ///
  /// - Parameters:
  ///   - key: The name.
  ///   - defaultValue: The value that is read where none is stored.
  public init(_ key: String, defaultValue: ValueType.T) {
    _key = key
    self.defaultValue = defaultValue
    missing = defaultValue
  }
}

extension DefaultsKey
where ValueType: OptionalType, ValueType.Wrapped: DefaultsSerializable, ValueType.T: OptionalType {
  /// Creates a key of an optional type, without a default.
  ///
  /// - Parameter key: The name.
  public init(_ key: String) {
    _key = key
    defaultValue = nil
    missing = .__swifty_empty
  }
}

// Unchecked because a default value does not change, even if its type is not `Sendable`, as
// `[String: Any]`.
extension DefaultsKey: @unchecked Sendable {}
