/// Stores an integer; text, as in launch arguments, is read as a number.
public struct DefaultsIntBridge: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = Int

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the number itself.
  public func serialize(_ value: Int) -> Any { value }

  /// Returns the integer, without the fraction of a number, or the integer that a text is.
  ///
  /// A number that is too large has none.
  public func deserialize(_ object: Any) -> Int? { NumberForm.integer(object) }
}
