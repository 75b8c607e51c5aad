internal import Foundation
internal import Prephirences

/// Stores an array whose elements are stored by their own bridge: an array of arrays, of sets or of
/// optional values.
public struct DefaultsNestedArrayBridge<Element: DefaultsSerializable>: DefaultsSerializingBridge {
  /// The type of the values.
  public typealias T = [Element.T]

  /// Creates a bridge.
  @inlinable public init() {}

  /// Returns the array of the elements' objects.
  ///
  /// - Throws: The error of the elements' bridge.
  public func serialize(_ value: [Element.T]) throws -> Any {
    let bridge = Element._defaults
    return try value.compactMap { try bridge._object(for: $0) }
  }

  /// Returns the array; JSON, and an archive of the array, are read as well.
  public func deserialize(_ object: Any) -> [Element.T]? {
    let object = (object as? Data).flatMap(PreferenceArchive.unarchive) ?? object
    guard let objects = object as? [Any] else { return JSONForm.value(of: object) }
    return CollectionForm.values(of: objects, Element._defaults)
  }
}
