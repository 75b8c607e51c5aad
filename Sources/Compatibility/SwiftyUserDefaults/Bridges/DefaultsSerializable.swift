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

// Without these, a type of two kinds would have two candidates of equal rank.

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
