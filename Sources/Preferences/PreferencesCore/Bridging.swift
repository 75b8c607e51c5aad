package import FoundationEssentials

/// An object of another library that represents a Swift value, as `NSNumber` does.
///
/// The core has no such objects. `Prephirences` declares the conformances for Foundation's.
package protocol BridgedValue {
  /// `Bool`, `Int`, `UInt64` above its range, `Float`, `Double` or `Decimal`; `nil` if the object
  /// represents no value.
  var swiftValue: Any? { get }

  /// The text of a number; `nil` for other objects.
  var numberText: String? { get }
}

/// An object that represents no value, as `NSNull` does in an array from JSON.
package protocol BridgedNull {}

/// Puts the numbers of stores into objects, which cast to every numeric type that holds them.
package protocol NumberBoxer: SendableMetatype {
  /// Returns a number of any type as an object; the number itself if no object holds it.
  static func object(of number: Any) -> Any
}

/// The type of numbers from a store that returns `Any`.
///
/// In a program that links `Prephirences`, it is `NSNumber`: that module makes this type a
/// ``NumberBoxer``. In other programs it is the Swift number.
package enum NumberBoxing {
  private static let boxer = NumberBoxing.self as Any as? any NumberBoxer.Type

  /// Returns a number as callers get it; see ``NumberBoxer/object(of:)``.
  package static func boxed(_ number: Any) -> Any { boxer?.object(of: number) ?? number }
}

/// Returns a value with each number as ``NumberBoxing`` returns it.
///
/// Numbers in arrays and dictionaries are included. Truth values and all other values stay.
package func withCastableNumbers(_ value: Any, depth: Int = 0) -> Any {
  let type = type(of: value)
  if type is AnyClass || type == String.self || type == Bool.self || type == Data.self
    || type == Date.self || type == [String].self || depth == PreferenceValue.maximumDepth
  {
    return value
  }
  return switch value {
  case let array as [Any?]:
    array.compactMap { $0.map { withCastableNumbers($0, depth: depth + 1) } }
  case let dictionary as [String: Any?]:
    dictionary.compactMapValues { $0.map { withCastableNumbers($0, depth: depth + 1) } }
  case is any Numeric: NumberBoxing.boxed(value)
  default: unwrapped(value) ?? value
  }
}

/// Returns preferences without JSON's null values, at any depth.
///
/// A property list cannot hold a null, and one null must not prevent storing the other values.
package func withoutNulls(_ values: PreferencesDictionary) -> PreferencesDictionary {
  values.compactMapValues { hasNull($0, depth: 0) ? stripped($0, depth: 0) : $0 }
}

/// Whether a value contains a null.
///
/// A value without one keeps its type.
private func hasNull(_ value: Any, depth: Int) -> Bool {
  // Values of these types, and arrays and dictionaries of them, cannot contain a null.
  guard depth < PreferenceValue.maximumDepth, !(type(of: value) is any PlainPreferenceValue.Type)
  else { return false }
  return switch value {
  case is any BridgedNull: true
  case let array as [Any]: array.contains { hasNull($0, depth: depth + 1) }
  case let dictionary as PreferencesDictionary:
    dictionary.values.contains { hasNull($0, depth: depth + 1) }
  default: false
  }
}

private func stripped(_ value: Any, depth: Int) -> Any? {
  // Stores with a limit refuse deeper values because of their depth.
  guard depth < PreferenceValue.maximumDepth else { return value }
  return switch value {
  case is any BridgedNull: nil
  case let array as [Any]: array.compactMap { stripped($0, depth: depth + 1) }
  case let dictionary as PreferencesDictionary:
    dictionary.compactMapValues { stripped($0, depth: depth + 1) }
  default: value
  }
}

/// Returns the value in an optional of any depth that may be wrapped in an `Any`.
package func unwrapped(_ value: Any?) -> Any? {
  guard let value else { return nil }
  // The cast below searches conformances, which takes longer than most calls.
  if isKnownValue(value) { return value }
  guard let optional = value as? any AnyOptional else { return value }
  return unwrapped(optional.content)
}

/// Whether a value's type is known not to be an optional.
private func isKnownValue(_ value: Any) -> Bool {
  // The type of an opened existential is available; `type(of:)` calls the runtime for it.
  _openExistential(value, do: isNoOptional)
}

private func isNoOptional<Value>(_: Value) -> Bool {
  Value.self == String.self || Value.self == Int.self || Value.self == Bool.self
    || Value.self == Double.self || Value.self is AnyClass
}

private protocol AnyOptional {
  var content: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var content: Any? { map { $0 as Any } }
}

extension PreferencesDictionary {
  /// Returns the dictionary without keys whose value is a `nil` wrapped in an `Any`.
  package func droppingNil() -> PreferencesDictionary { compactMapValues { unwrapped($0) } }
}

/// Archives and unarchives objects.
///
/// The core has no objects. `Prephirences` declares the conformance of ``PreferenceArchive``, with
/// `NSKeyedArchiver`.
package protocol ObjectArchiver: SendableMetatype {
  /// Returns the archive of a value, or `nil` if it cannot be archived.
  static func archived(_ value: Any) -> Data?

  /// Returns the value of an archive, or `nil` if the data is not an archive.
  static func unarchived(_ data: Data) -> Any?

  /// Whether this program has a class with this name whose objects can be unarchived.
  static func isArchivable(className: String) -> Bool
}

/// Archives of objects in a program that links `Prephirences`; other programs archive nothing.
package enum PreferenceArchive {
  private static let archiver = PreferenceArchive.self as Any as? any ObjectArchiver.Type

  /// Returns the archive of a value, or `nil` if it cannot be archived.
  package static func archive(_ value: Any) -> Data? { archiver?.archived(value) }

  /// Returns the value of an archive, or `nil` if the data is not an archive.
  package static func unarchive(_ data: Data) -> Any? { archiver?.unarchived(data) }

  /// The maximum nesting depth of objects.
  package static var maximumDepth: Int { KeyedArchive.maximumDepth }

  /// Whether `NSKeyedUnarchiver`, which stops the process on many altered archives, can read this
  /// one.
  package static func isSound(_ data: Data) -> Bool { KeyedArchive(data)?.isSound ?? false }

  /// Whether this program has a class with this name whose objects can be unarchived.
  static func isArchivable(className: String) -> Bool {
    archiver?.isArchivable(className: className) ?? false
  }
}
