/// Stores a value as JSON, and reads objects of a property list as well.
public struct DefaultsCodableBridge<T: Codable>: DefaultsSerializingBridge {
  /// Creates a bridge.
  public init() {}

  /// Returns the JSON of a value.
  ///
  /// - Throws: The error of the encoder.
  public func serialize(_ value: T) throws -> Any { try JSONForm.object(for: value) }

  /// Returns the value of JSON, or of an object of a property list.
  public func deserialize(_ object: Any) -> T? { JSONForm.value(of: object) }
}
