/// Stores a number; text, as in launch arguments, is read as a number.
public struct DefaultsDoubleBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = Double

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the number itself.
  public func serialize(_ value: Double) -> Any { value }

  /// Returns the number, or the number that a text is.
  public func deserialize(_ object: Any) -> Double? { NumberForm.double(object) }
}
