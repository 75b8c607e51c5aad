public import Foundation

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
/// | text, truth value, number, date, data, URL, UUID, `Decimal`, and their arrays and dictionaries | itself |
/// | ``PalauCustomDefaultable`` | its intermediate value |
/// | `RawRepresentable` | its raw value |
/// | `NSCoding` | itself if stores hold it, else data: its archive |
/// | `Codable` | data: its JSON |
///
/// A type of any other kind implements `get(_:from:)` and
/// `set(_:forKey:in:)`. Archives are read for every `NSCoding` type, also those
/// that Palau for Apple's systems wrote for `NSNumber` and `NSString`.
public protocol PalauDefaultable {
  /// The type of the value; the conforming type itself.
  associatedtype ValueType = Self

  /// Returns the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - defaults: The user defaults that have the key.
  /// - Returns: The value, or `nil` if there is none of this type.
  static func get(_ key: String, from defaults: NSUD) -> ValueType?

  /// Returns the values of a key of an array entry.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - defaults: The user defaults that have the key.
  /// - Returns: The values, or `nil` if there is no array of this type.
  static func get(_ key: String, from defaults: NSUD) -> [ValueType]?

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  ///   - defaults: The user defaults that have the key.
  static func set(_ value: ValueType?, forKey key: String, in defaults: NSUD)

  /// Sets the values of a key of an array entry.
  ///
  /// - Parameters:
  ///   - value: The values; `nil` removes the key.
  ///   - key: The key.
  ///   - defaults: The user defaults that have the key.
  static func set(_ value: [ValueType]?, forKey key: String, in defaults: NSUD)

  /// Returns the value of a key; the spelling of Palau for Swift 2.
  ///
  /// A type implements this method or `get(_:from:)`, which is its default.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - defaults: The user defaults that have the key.
  /// - Returns: The value, or `nil` if there is none of this type.
  static func get(key: String, from defaults: NSUD) -> ValueType?

  /// Sets the value of a key; the spelling of Palau for Swift 2.
  ///
  /// A type implements this method or `set(_:forKey:in:)`, which is its default.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  ///   - defaults: The user defaults that have the key.
  static func set(value: ValueType?, forKey key: String, in defaults: NSUD)
}

extension PalauDefaultable {
  /// Returns the value of a key.
  public static func get(_ key: String, from defaults: NSUD) -> ValueType? {
    PalauForm.value(of: Self.self, key, in: defaults)
  }

  /// Returns the values of a key of an array entry.
  public static func get(_ key: String, from defaults: NSUD) -> [ValueType]? {
    PalauForm.values(of: Self.self, key, in: defaults)
  }

  /// Sets the value of a key; a value that cannot be stored changes nothing, and
  /// `lastPreferencesError` of the user defaults has the reason.
  public static func set(_ value: ValueType?, forKey key: String, in defaults: NSUD) {
    PalauForm.set(value, of: Self.self, key, in: defaults)
  }

  /// Sets the values of a key of an array entry; see `set(_:forKey:in:)`.
  public static func set(_ value: [ValueType]?, forKey key: String, in defaults: NSUD) {
    PalauForm.set(values: value, of: Self.self, key, in: defaults)
  }

  /// Returns the value of a key; the spelling of Palau for Swift 2.
  public static func get(key: String, from defaults: NSUD) -> ValueType? {
    get(key, from: defaults)
  }

  /// Sets the value of a key; the spelling of Palau for Swift 2.
  public static func set(value: ValueType?, forKey key: String, in defaults: NSUD) {
    set(value, forKey: key, in: defaults)
  }
}
