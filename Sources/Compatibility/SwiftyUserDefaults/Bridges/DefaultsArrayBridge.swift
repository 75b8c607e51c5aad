/// Stores an array as an array of a property list, and reads JSON as well.
public struct DefaultsArrayBridge<T: Collection>: DefaultsSerializingBridge {
  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the array, with its elements converted if needed.
  ///
  /// - Throws: The error of the encoder or of the elements' bridge.
  public func serialize(_ value: T) throws -> Any { try CollectionForm.object(for: value) }

  /// Returns the array of an object, or of its JSON.
  public func deserialize(_ object: Any) -> T? { CollectionForm.value(of: object) }
}
