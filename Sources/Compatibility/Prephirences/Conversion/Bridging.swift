/// An object of another library that stands for a value of Swift, as `NSNumber` does.
///
/// The core knows no such object. `Prephirences` declares the conformances for Foundation's.
package protocol BridgedValue {
  /// `Bool`, `Int`, `UInt64`, `Double`, `Decimal`, `String`, `Data`, `Date`, `URL`, `UUID`, an array or
  /// a dictionary of these or of other objects; `nil` if the object stands for no value.
  var swiftValue: Any? { get }
}

/// An object that stands for nothing, as `NSNull` does in an array that was JSON.
package protocol BridgedNull {}

/// Puts the numbers that a store returns into objects, which cast to every numeric type that holds them.
package protocol NumberBoxer: SendableMetatype {
  /// Returns a number as an object.
  ///
  /// - Parameter number: An `Int`, `Int64`, `UInt64` or `Double`.
  static func box(_ number: Any) -> Any
}

/// What the numbers are that a store returns for a caller who asks for `Any`.
///
/// A program that links `Prephirences` gets an `NSNumber`: that module makes this type a
/// ``NumberBoxer``. Any other program gets the number of Swift.
package enum NumberBoxing {
  private static let boxer = NumberBoxing.self as Any as? any NumberBoxer.Type

  /// Returns a number as callers get it; see ``NumberBoxer/box(_:)``.
  package static func boxed(_ number: Any) -> Any { boxer?.box(number) ?? number }
}
