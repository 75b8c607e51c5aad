public import Foundation
internal import Prephirences

/// A type of values that entries can have.
///
/// Every requirement has a default. A type that is `RawRepresentable`, `NSCoding` or `Codable`
/// needs only the conformance:
///
/// ```swift
/// struct Window: Codable, PalauDefaultable {
///   var width: Int
///   var title: String
/// }
/// ```
///
/// | type | is stored as |
/// | --- | --- |
/// | text, truth value, number, date, data, URL, UUID, `Decimal`, collections of these | itself |
/// | ``PalauCustomDefaultable`` | its intermediate value |
/// | `RawRepresentable` | its raw value |
/// | `NSCoding` | itself if stores can hold it, else data: its archive |
/// | `Codable` | data: its JSON |
///
/// Any other type implements `get(_:from:)` and
/// `set(_:forKey:in:)`. Archives are read for every `NSCoding` type, also those
/// that Palau for Apple's systems wrote for `NSNumber` and `NSString`.
public protocol PalauDefaultable {
  /// The type of the value; the conforming type itself.
  associatedtype ValueType = Self

  /// Returns the value of a key, or `nil` if there is none of this type.
  static func get(_ key: String, from defaults: NSUD) -> ValueType?

  /// Returns the values of an array entry's key, or `nil` if there is no array of this type.
  static func get(_ key: String, from defaults: NSUD) -> [ValueType]?

  /// Sets the value of a key; `nil` removes the key.
  static func set(_ value: ValueType?, forKey key: String, in defaults: NSUD)

  /// Sets the values of an array entry's key; `nil` removes the key.
  static func set(_ value: [ValueType]?, forKey key: String, in defaults: NSUD)

  /// Returns the value of a key, as in Palau for Swift 2; `nil` if there is none of this type.
  ///
  /// A type implements this method or `get(_:from:)`, which is its default.
  static func get(key: String, from defaults: NSUD) -> ValueType?

  /// Sets the value of a key, as in Palau for Swift 2; `nil` removes the key.
  ///
  /// A type implements this method or `set(_:forKey:in:)`, which is its default.
  static func set(value: ValueType?, forKey key: String, in defaults: NSUD)
}

extension PalauDefaultable {
  /// Returns the value of a key.
  public static func get(_ key: String, from defaults: NSUD) -> ValueType? {
    PalauForm.read(Self.self, key, in: defaults) {
      PalauForm.kind(of: Self.self).value(key, in: defaults)
    }
  }

  /// Returns the values of an array entry's key.
  public static func get(_ key: String, from defaults: NSUD) -> [ValueType]? {
    PalauForm.read([Self].self, key, in: defaults) {
      PalauForm.kind(of: Self.self).values(key, in: defaults)
    }
  }

  /// Sets the value of a key; if it cannot be stored, nothing changes, and `lastPreferencesError`
  /// of the user defaults has the reason.
  public static func set(_ value: ValueType?, forKey key: String, in defaults: NSUD) {
    guard let value else { return defaults.removePreference(forKey: key) }
    PalauForm.kind(of: Self.self).set(value, key, in: defaults)
  }

  /// Sets the values of an array entry's key; see `set(_:forKey:in:)`.
  public static func set(_ value: [ValueType]?, forKey key: String, in defaults: NSUD) {
    guard let value else { return defaults.removePreference(forKey: key) }
    PalauForm.kind(of: Self.self).set(values: value, key, in: defaults)
  }

  /// Returns the value of a key, as in Palau for Swift 2.
  public static func get(key: String, from defaults: NSUD) -> ValueType? {
    get(key, from: defaults)
  }

  /// Sets the value of a key, as in Palau for Swift 2.
  public static func set(value: ValueType?, forKey key: String, in defaults: NSUD) {
    set(value, forKey: key, in: defaults)
  }
}

extension Bool: PalauDefaultable {}
extension Int: PalauDefaultable {}
extension Int8: PalauDefaultable {}
extension Int16: PalauDefaultable {}
extension Int32: PalauDefaultable {}
extension Int64: PalauDefaultable {}
extension UInt: PalauDefaultable {}
extension UInt8: PalauDefaultable {}
extension UInt16: PalauDefaultable {}
extension UInt32: PalauDefaultable {}
extension UInt64: PalauDefaultable {}
extension Float: PalauDefaultable {}
extension Double: PalauDefaultable {}
extension CGFloat: PalauDefaultable {}
extension Decimal: PalauDefaultable {}
extension String: PalauDefaultable {}
extension Date: PalauDefaultable {}
extension Data: PalauDefaultable {}
extension URL: PalauDefaultable {}
extension UUID: PalauDefaultable {}
extension Array: PalauDefaultable {}
extension Dictionary: PalauDefaultable {}

extension NSNumber: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSNumber
}

extension NSString: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSString
}

extension NSArray: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSArray
}

extension NSDictionary: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSDictionary
}

extension NSDate: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSDate
}

extension NSData: PalauDefaultable {
  /// The type of the value.
  public typealias ValueType = NSData
}

/// A type whose values are stored as values of another type.
///
/// ```swift
/// struct Colour: PalauCustomDefaultable {
///   var red: Int, green: Int, blue: Int
///
///   static func toIntermediate(_ colour: Colour) -> [Int] {
///     [colour.red, colour.green, colour.blue]
///   }
///
///   static func fromIntermediate(_ parts: [Int]) -> Colour? {
///     parts.count == 3 ? Colour(red: parts[0], green: parts[1], blue: parts[2]) : nil
///   }
/// }
/// ```
///
/// The intermediate type is a type of property lists, `RawRepresentable` or `Codable`.
public protocol PalauCustomDefaultable: PalauDefaultable {
  /// The type that is stored.
  associatedtype IntermediateType

  /// Returns what to store for a value.
  static func toIntermediate(_ value: Self) -> IntermediateType

  /// Returns the value of what is stored, or `nil` if it is not valid.
  static func fromIntermediate(_ intermediate: IntermediateType) -> Self?
}
