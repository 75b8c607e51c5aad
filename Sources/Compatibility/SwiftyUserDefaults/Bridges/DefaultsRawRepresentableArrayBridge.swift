/// Stores an array of raw values, and reads JSON as well if the type is `Decodable`.
///
/// Raw values that the type does not have are left out.
public struct DefaultsRawRepresentableArrayBridge<T: Collection>: DefaultsSerializingBridge
where T.Element: RawRepresentable {
  /// Creates a bridge.
  public init() {}

  /// Returns the array of the raw values' objects.
  ///
  /// - Throws: The error of the raw values' encoder.
  public func serialize(_ value: T) throws -> Any { try value.map { try RawForm.object(for: $0) } }

  /// Returns the values with the raw values of an array.
  public func deserialize(_ object: Any) -> T? {
    guard let objects = object as? [Any] else { return JSONForm.value(of: object) }
    let values = objects.compactMap { object -> T.Element? in RawForm.value(of: object) }
    // Elements of another type are not cases that were removed.
    guard values.count == objects.count || RawForm.areRawValues(objects, of: T.Element.self) else {
      return nil
    }
    return values as? T
  }
}
