/// An object of another library that stands for a value of Swift, as `NSNumber` does.
///
/// The core knows no such object. `Prephirences` declares the conformances for Foundation's.
package protocol BridgedValue {
  /// `Bool`, `Int`, `UInt64`, `Double`, `Decimal`, `String`, `Data`, `Date`, `URL`, `UUID`, an array or
  /// a dictionary of these or of other objects; `nil` if the object stands for no value.
  var swiftValue: Any? { get }

  /// The same, but a number object of a `Float` stays one.
  var exactValue: Any? { get }

  /// The text of a number; `nil` if the object is none.
  var numberText: String? { get }

  /// Whether the object is a number of single precision, which its value as a `Double` does not say.
  var isSinglePrecision: Bool { get }
}

extension BridgedValue {
  package var isSinglePrecision: Bool { false }
}

extension BridgedValue {
  package var exactValue: Any? { swiftValue }
}

/// An object that stands for nothing, as `NSNull` does in an array that was JSON.
package protocol BridgedNull {}

/// Puts the numbers that a store returns into objects, which cast to every numeric type that holds them.
package protocol NumberBoxer: SendableMetatype {
  /// Returns a number of any type as an object; the number itself if no object holds it.
  static func object(of number: Any) -> Any
}

/// What the numbers are that a store returns for a caller who asks for `Any`.
///
/// A program that links `Prephirences` gets an `NSNumber`: that module makes this type a
/// ``NumberBoxer``. Any other program gets the number of Swift.
package enum NumberBoxing {
  private static let boxer = NumberBoxing.self as Any as? any NumberBoxer.Type

  /// Returns a number as callers get it; see ``NumberBoxer/object(of:)``.
  package static func boxed(_ number: Any) -> Any { boxer?.object(of: number) ?? number }
}
