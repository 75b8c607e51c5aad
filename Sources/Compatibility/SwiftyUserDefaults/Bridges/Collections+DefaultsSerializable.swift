extension Optional: DefaultsSerializable where Wrapped: DefaultsSerializable {
  /// The bridge of an optional value.
  @inlinable public static var _defaults: DefaultsOptionalBridge<Wrapped.Bridge> {
    DefaultsOptionalBridge(bridge: Wrapped._defaults)
  }

  /// The bridge of an optional array.
  @inlinable public static var _defaultsArray: DefaultsOptionalBridge<Wrapped.ArrayBridge> {
    DefaultsOptionalBridge(bridge: Wrapped._defaultsArray)
  }
}

extension Array: DefaultsSerializable where Element: DefaultsSerializable {
  /// The bridge of an array, which its elements have.
  @inlinable public static var _defaults: Element.ArrayBridge { Element._defaultsArray }

  /// The bridge of an array of arrays.
  @inlinable public static var _defaultsArray: DefaultsNestedArrayBridge<[Element]> {
    DefaultsNestedArrayBridge()
  }
}

extension Set: DefaultsSerializable where Element: DefaultsSerializable {
  /// The bridge of a set.
  @inlinable public static var _defaults: DefaultsSetBridge<Element> { DefaultsSetBridge() }

  /// The bridge of an array of sets.
  @inlinable public static var _defaultsArray: DefaultsNestedArrayBridge<Set<Element>> {
    DefaultsNestedArrayBridge()
  }
}

extension Dictionary: DefaultsSerializable where Key == String {
  /// The bridge of a dictionary.
  @inlinable public static var _defaults: DefaultsObjectBridge<[String: Value]> {
    DefaultsObjectBridge()
  }

  /// The bridge of an array of dictionaries.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[[String: Value]]> {
    DefaultsArrayBridge()
  }
}
