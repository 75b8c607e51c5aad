public import Foundation

/// A type whose values can be stored.
///
/// A type that is `Codable`, `RawRepresentable` or `NSCoding` needs nothing more than the
/// conformance. Any other type has bridges of its own.
public protocol DefaultsSerializable: SendableMetatype {
  /// The type of the values of its bridge: the type itself.
  typealias T = Bridge.T

  /// The bridge of a single value.
  associatedtype Bridge: DefaultsBridge

  /// The bridge of an array of values.
  associatedtype ArrayBridge: DefaultsBridge

  /// The bridge of a single value.
  static var _defaults: Bridge { get }

  /// The bridge of an array of values.
  static var _defaultsArray: ArrayBridge { get }
}

extension DefaultsSerializable where Self: Codable {
  /// Stores the JSON of the value.
  public static var _defaults: DefaultsCodableBridge<Self> { DefaultsCodableBridge() }

  /// Stores the JSON of the array.
  public static var _defaultsArray: DefaultsCodableBridge<[Self]> { DefaultsCodableBridge() }
}

extension DefaultsSerializable where Self: RawRepresentable {
  /// Stores the raw value.
  public static var _defaults: DefaultsRawRepresentableBridge<Self> {
    DefaultsRawRepresentableBridge()
  }

  /// Stores an array of raw values.
  public static var _defaultsArray: DefaultsRawRepresentableArrayBridge<[Self]> {
    DefaultsRawRepresentableArrayBridge()
  }
}

extension DefaultsSerializable where Self: NSCoding {
  /// Stores the archive of the object.
  public static var _defaults: DefaultsKeyedArchiverBridge<Self> { DefaultsKeyedArchiverBridge() }

  /// Stores the archive of the array.
  public static var _defaultsArray: DefaultsKeyedArchiverBridge<[Self]> {
    DefaultsKeyedArchiverBridge()
  }
}

// Without these, a type of two kinds would be ambiguous.

extension DefaultsSerializable where Self: Codable & RawRepresentable {
  /// Stores the raw value, and reads JSON as well.
  public static var _defaults: DefaultsRawRepresentableBridge<Self> {
    DefaultsRawRepresentableBridge()
  }

  /// Stores an array of raw values, and reads JSON as well.
  public static var _defaultsArray: DefaultsRawRepresentableArrayBridge<[Self]> {
    DefaultsRawRepresentableArrayBridge()
  }
}

extension DefaultsSerializable where Self: Codable & NSCoding {
  /// Stores the JSON of the value.
  public static var _defaults: DefaultsCodableBridge<Self> { DefaultsCodableBridge() }

  /// Stores the JSON of the array.
  public static var _defaultsArray: DefaultsCodableBridge<[Self]> { DefaultsCodableBridge() }
}

extension String: DefaultsSerializable {
  /// The bridge of text.
  @inlinable public static var _defaults: DefaultsStringBridge { DefaultsStringBridge() }

  /// The bridge of an array of text.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[String]> {
    DefaultsArrayBridge()
  }
}

extension Int: DefaultsSerializable {
  /// The bridge of an integer.
  @inlinable public static var _defaults: DefaultsIntBridge { DefaultsIntBridge() }

  /// The bridge of an array of integers.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[Int]> { DefaultsArrayBridge() }
}

extension Double: DefaultsSerializable {
  /// The bridge of a number.
  @inlinable public static var _defaults: DefaultsDoubleBridge { DefaultsDoubleBridge() }

  /// The bridge of an array of numbers.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[Double]> {
    DefaultsArrayBridge()
  }
}

extension Bool: DefaultsSerializable {
  /// The bridge of a truth value.
  @inlinable public static var _defaults: DefaultsBoolBridge { DefaultsBoolBridge() }

  /// The bridge of an array of truth values.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[Bool]> { DefaultsArrayBridge() }
}

extension Data: DefaultsSerializable {
  /// The bridge of bytes.
  @inlinable public static var _defaults: DefaultsDataBridge { DefaultsDataBridge() }

  /// The bridge of an array of bytes.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[Data]> { DefaultsArrayBridge() }
}

extension Date: DefaultsSerializable {
  /// The bridge of a date.
  @inlinable public static var _defaults: DefaultsObjectBridge<Date> { DefaultsObjectBridge() }

  /// The bridge of an array of dates.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[Date]> { DefaultsArrayBridge() }
}

extension URL: DefaultsSerializable {
  /// The bridge of a URL.
  @inlinable public static var _defaults: DefaultsUrlBridge { DefaultsUrlBridge() }

  /// The bridge of an array of URLs.
  @inlinable public static var _defaultsArray: DefaultsNestedArrayBridge<URL> {
    DefaultsNestedArrayBridge()
  }
}

extension UUID: DefaultsSerializable {
  /// The bridge of a UUID.
  @inlinable public static var _defaults: DefaultsObjectBridge<UUID> { DefaultsObjectBridge() }

  /// The bridge of an array of UUIDs.
  @inlinable public static var _defaultsArray: DefaultsArrayBridge<[UUID]> { DefaultsArrayBridge() }
}

/// A number of a type that the original library does not support.
public protocol DefaultsNumber: DefaultsSerializable {}

extension DefaultsNumber {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<Self> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[Self]> { DefaultsArrayBridge() }
}

extension DefaultsNumber where Self: Codable {
  /// The bridge of a number.
  public static var _defaults: DefaultsNumberBridge<Self> { DefaultsNumberBridge() }

  /// The bridge of an array of numbers.
  public static var _defaultsArray: DefaultsArrayBridge<[Self]> { DefaultsArrayBridge() }
}

extension Float: DefaultsNumber {}
extension CGFloat: DefaultsNumber {}
extension Decimal: DefaultsNumber {}
extension UInt: DefaultsNumber {}
extension Int8: DefaultsNumber {}
extension Int16: DefaultsNumber {}
extension Int32: DefaultsNumber {}
extension Int64: DefaultsNumber {}
extension UInt8: DefaultsNumber {}
extension UInt16: DefaultsNumber {}
extension UInt32: DefaultsNumber {}
extension UInt64: DefaultsNumber {}

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
