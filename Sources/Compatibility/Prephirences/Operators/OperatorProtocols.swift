public import Foundation

/// A type with an empty value, from which operators start if there is no value.
public protocol Initializable {
  /// Creates the empty value, such as 0 or `""`.
  init()
}

/// A type whose values can be joined.
public protocol Addable {
  /// Joins two values.
  ///
  /// - Parameters:
  ///   - left: The first value.
  ///   - right: The second value.
  /// - Returns: The joined value.
  static func + (left: Self, right: Self) -> Self
}

/// A type with the operator `&&`.
public protocol Conjunctive {
  /// Returns the conjunction of two values.
  ///
  /// - Parameters:
  ///   - left: The first value.
  ///   - right: The second value, which is evaluated only if needed.
  /// - Returns: The conjunction.
  static func && (left: Self, right: @autoclosure () throws -> Self) rethrows -> Self
}

/// A type with the operator `||`.
public protocol Disjunctive {
  /// Returns the disjunction of two values.
  ///
  /// - Parameters:
  ///   - left: The first value.
  ///   - right: The second value, which is evaluated only if needed.
  /// - Returns: The disjunction.
  static func || (left: Self, right: @autoclosure () throws -> Self) rethrows -> Self
}

/// A type of truth values.
public protocol LogicalOperationsType: Conjunctive, Disjunctive {
  /// Returns the negation of a value.
  ///
  /// - Parameter value: The value.
  /// - Returns: The negation.
  static prefix func ! (value: Self) -> Self
}

extension Int: Initializable {}
extension Int8: Initializable {}
extension Int16: Initializable {}
extension Int32: Initializable {}
extension Int64: Initializable {}
extension UInt: Initializable {}
extension UInt8: Initializable {}
extension UInt16: Initializable {}
extension UInt32: Initializable {}
extension UInt64: Initializable {}
extension Float: Initializable {}
extension Double: Initializable {}
extension CGFloat: Initializable {}
extension String: Initializable, Addable {}
extension Array: Initializable, Addable {}
extension Bool: Initializable, LogicalOperationsType {}
