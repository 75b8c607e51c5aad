/// Stores a set as an array.
public struct DefaultsSetBridge<Element: DefaultsSerializable & Hashable>:
  DefaultsSerializingBridge
{
  /// The type of the values.
  public typealias T = Set<Element>

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the object of the array of the elements.
  ///
  /// - Throws: The error of the elements' bridge.
  public func serialize(_ value: Set<Element>) throws -> Any {
    try CollectionForm.object(forArray: Array(value), Element._defaultsArray) ?? [Any]()
  }

  /// Returns the set of the elements of an array.
  public func deserialize(_ object: Any) -> Set<Element>? {
    (Element._defaultsArray.deserialize(object) as? [Element]).map { Set($0) }
  }
}
