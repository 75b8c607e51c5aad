internal import Prephirences

/// Stores a number of any type; text, as in launch arguments, is read as a number.
///
/// A stored number that the type cannot hold is not read.
public struct DefaultsNumberBridge<T>: DefaultsSerializingBridge {
  /// Creates a bridge.
  public init() {}

  /// Returns the number itself.
  public func serialize(_ value: T) -> Any { value }

  /// Returns the number, or the number that a text is.
  public func deserialize(_ object: Any) -> T? { PreferenceCast.cast(object, to: T.self) }
}
