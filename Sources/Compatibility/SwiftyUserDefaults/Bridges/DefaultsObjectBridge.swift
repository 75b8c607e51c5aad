/// Stores a value that is an object of a property list itself: a date, or a dictionary.
///
/// In a dictionary, values that are `Codable` make the whole dictionary JSON; other values are
/// stored by their own bridges.
public struct DefaultsObjectBridge<T>: DefaultsSerializingBridge {
  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the value, with its elements converted if needed.
  ///
  /// - Throws: The error of the encoder or of the elements' bridge.
  public func serialize(_ value: T) throws -> Any { try CollectionForm.object(for: value) }

  /// Returns the value of an object, or of its JSON.
  public func deserialize(_ object: Any) -> T? { CollectionForm.value(of: object) }
}
