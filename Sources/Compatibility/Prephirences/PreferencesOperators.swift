public import Foundation

precedencegroup BackwardPipePrecedence {
  associativity: left
  higherThan: AssignmentPrecedence
}

/// Returns the preference of a key.
infix operator <| : BackwardPipePrecedence

/// Sets a value if there is none yet.
infix operator ?= : AssignmentPrecedence

/// Sets a truth value to its conjunction with another truth value.
infix operator &&= : AssignmentPrecedence

/// Sets a truth value to its disjunction with another truth value.
infix operator ||= : AssignmentPrecedence

/// A type with an empty value, from which operators start if there is no value.
public protocol Initializable {
  /// Creates the empty value, such as 0 or `""`.
  init()
}

/// A type whose values can be joined.
public protocol Addable {
  /// Joins two values.
  static func + (left: Self, right: Self) -> Self
}

/// A type with the operator `&&`.
public protocol Conjunctive {
  /// Returns the conjunction of two values; the second is evaluated only if needed.
  static func && (left: Self, right: @autoclosure () throws -> Self) rethrows -> Self
}

/// A type with the operator `||`.
public protocol Disjunctive {
  /// Returns the disjunction of two values; the second is evaluated only if needed.
  static func || (left: Self, right: @autoclosure () throws -> Self) rethrows -> Self
}

/// A type of truth values.
public protocol LogicalOperationsType: Conjunctive, Disjunctive {
  /// Returns the negation of a value.
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

// The left sides are not `inout`, although the operators assign: preferences are references to
// stored values, so they may also be constants, such as `UserDefaults.standard`.

/// Sets all keys of other preferences.
public func += (left: any MutablePreferencesType, right: any PreferencesType) {
  left.set(dictionary: right.dictionary())
}

/// Sets the values of several keys.
public func += (left: any MutablePreferencesType, right: PreferencesDictionary) {
  left.set(dictionary: right)
}

/// Sets the values of several keys; the last value of a repeated key is used.
public func += (left: any MutablePreferencesType, right: [(PreferenceKey, PreferenceObject)]) {
  left.set(dictionary: PreferencesDictionary(right) { _, last in last })
}

/// Sets the values of keys that have no value yet; the first value of a repeated key is used.
public func ?= (left: any MutablePreferencesType, right: [(PreferenceKey, PreferenceObject)]) {
  left ?= PreferencesDictionary(right) { first, _ in first }
}

/// Sets the values of keys that have no value yet.
public func ?= (left: any MutablePreferencesType, right: PreferencesDictionary) {
  left.set(dictionary: right.filter { !left.hasObject(forKey: $0.key) })
}

/// Removes a key and its value.
public func -= (left: any MutablePreferencesType, right: PreferenceKey) {
  left.removeObject(forKey: right)
}

/// Returns the preference of a key.
public func <| <T>(preferences: any PreferencesType, key: PreferenceKey) -> Preference<T> {
  Preference(preferences: preferences, key: key)
}

/// Returns the preference of a key.
public func <| <T>(
  preferences: any MutablePreferencesType, key: PreferenceKey
) -> MutablePreference<T> {
  MutablePreference(preferences: preferences, key: key)
}

extension PreferencesType {
  /// Applies an operation to the values of two keys; if only one has a value of this type, returns
  /// that.
  public func operation<T>(
    on key: PreferenceKey, with otherKey: PreferenceKey, using operation: (T, T) -> T
  ) -> T? {
    combine(preference(forKey: key).value, preference(forKey: otherKey).value, operation)
  }

  /// Applies an operation to the value of a key and another value; without the first, returns the
  /// other.
  public func operation<T>(
    on key: PreferenceKey, with value: T, using operation: (T, T) -> T
  ) -> T? {
    combine(preference(forKey: key).value, value, operation)
  }
}

/// Returns the result of an operation, or the only value.
func combine<T>(_ left: T?, _ right: T?, _ operation: (T, T) -> T) -> T? {
  guard let left else { return right }
  guard let right else { return left }
  return operation(left, right)
}

func combine<T>(
  _ left: Preference<T>, _ right: Preference<T>, _ operation: (T, T) -> T
) -> T? {
  combine(left.value, right.value, operation)
}
