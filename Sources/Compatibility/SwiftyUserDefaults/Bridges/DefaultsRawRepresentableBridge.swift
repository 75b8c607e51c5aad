/// Stores the raw value of a value, and reads JSON as well if the type is `Decodable`.
public struct DefaultsRawRepresentableBridge<T: RawRepresentable>: DefaultsSerializingBridge {
  /// Creates a bridge.
  public init() {}

  /// Returns the object of the raw value.
  ///
  /// - Throws: The error of the raw value's encoder.
  public func serialize(_ value: T) throws -> Any { try RawForm.object(for: value) }

  /// Returns the value with the raw value that an object is.
  public func deserialize(_ object: Any) -> T? { RawForm.value(of: object) }
}
