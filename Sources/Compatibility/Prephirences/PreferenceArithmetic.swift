// If only one side has a value, that value is the result. Otherwise the values' own operators
// apply: integer overflow stops the process, as everywhere in Swift.

extension Preference where T: Addable {
  /// Joins two values.
  public static func + (left: Preference, right: Preference) -> T? { combine(left, right, +) }

  /// Joins two values.
  public static func + (left: Preference<T>, right: T?) -> T? { combine(left.value, right, +) }

  /// Joins two values.
  public static func + (left: T?, right: Preference<T>) -> T? { combine(left, right.value, +) }
}

extension Preference where T: Numeric {
  /// Returns the sum of two values.
  public static func + (left: Preference, right: Preference) -> T? { combine(left, right, +) }

  /// Returns the sum of two values.
  public static func + (left: Preference<T>, right: T?) -> T? { combine(left.value, right, +) }

  /// Returns the sum of two values.
  public static func + (left: T?, right: Preference<T>) -> T? { combine(left, right.value, +) }

  /// Returns the difference of two values.
  public static func - (left: Preference, right: Preference) -> T? { combine(left, right, -) }

  /// Returns the difference of two values.
  public static func - (left: Preference<T>, right: T?) -> T? { combine(left.value, right, -) }

  /// Returns the difference of two values.
  public static func - (left: T?, right: Preference<T>) -> T? { combine(left, right.value, -) }

  /// Returns the product of two values.
  public static func * (left: Preference, right: Preference) -> T? { combine(left, right, *) }

  /// Returns the product of two values.
  public static func * (left: Preference<T>, right: T?) -> T? { combine(left.value, right, *) }

  /// Returns the product of two values.
  public static func * (left: T?, right: Preference<T>) -> T? { combine(left, right.value, *) }
}

extension Preference where T: BinaryInteger {
  /// Returns the quotient of two values.
  public static func / (left: Preference, right: Preference) -> T? { combine(left, right, /) }

  /// Returns the quotient of two values.
  public static func / (left: Preference<T>, right: T?) -> T? { combine(left.value, right, /) }

  /// Returns the quotient of two values.
  public static func / (left: T?, right: Preference<T>) -> T? { combine(left, right.value, /) }

  /// Returns the remainder of two values.
  public static func % (left: Preference, right: Preference) -> T? { combine(left, right, %) }

  /// Returns the remainder of two values.
  public static func % (left: Preference<T>, right: T?) -> T? { combine(left.value, right, %) }

  /// Returns the remainder of two values.
  public static func % (left: T?, right: Preference<T>) -> T? { combine(left, right.value, %) }

  /// Returns the bits that are set in both values.
  public static func & (left: Preference, right: Preference) -> T? { combine(left, right, &) }

  /// Returns the bits that are set in both values.
  public static func & (left: Preference<T>, right: T?) -> T? { combine(left.value, right, &) }

  /// Returns the bits that are set in both values.
  public static func & (left: T?, right: Preference<T>) -> T? { combine(left, right.value, &) }

  /// Returns the bits that are set in either value.
  public static func | (left: Preference, right: Preference) -> T? { combine(left, right, |) }

  /// Returns the bits that are set in either value.
  public static func | (left: Preference<T>, right: T?) -> T? { combine(left.value, right, |) }

  /// Returns the bits that are set in either value.
  public static func | (left: T?, right: Preference<T>) -> T? { combine(left, right.value, |) }

  /// Returns the bits that are set in exactly one of two values.
  public static func ^ (left: Preference, right: Preference) -> T? { combine(left, right, ^) }

  /// Returns the bits that are set in exactly one of two values.
  public static func ^ (left: Preference<T>, right: T?) -> T? { combine(left.value, right, ^) }

  /// Returns the bits that are set in exactly one of two values.
  public static func ^ (left: T?, right: Preference<T>) -> T? { combine(left, right.value, ^) }
}

extension Preference where T: FloatingPoint {
  /// Returns the quotient of two values.
  public static func / (left: Preference, right: Preference) -> T? { combine(left, right, /) }

  /// Returns the quotient of two values.
  public static func / (left: Preference<T>, right: T?) -> T? { combine(left.value, right, /) }

  /// Returns the quotient of two values.
  public static func / (left: T?, right: Preference<T>) -> T? { combine(left, right.value, /) }
}

// Without a value, the operators start with the empty one, such as 0 or `""`. Reading and writing
// are two steps: another thread may write in between. Integer overflow stops the process, as
// everywhere in Swift.
//
// The left sides are not `inout`, although the operators assign, so that constants and projected
// values, such as `$count`, are also accepted.

extension MutablePreference {
  /// Sets a preference if it has no value of its type.
  public static func ?= (left: MutablePreference<T>, right: @autoclosure () throws -> T) rethrows {
    if left.isEmpty { left.value = try right() }
  }
}

extension MutablePreference where T: Addable & Initializable {
  /// Appends a value to the value of a preference.
  public static func += (left: MutablePreference<T>, right: T) {
    left.value = (left.value ?? T()) + right
  }
}

extension MutablePreference where T: AdditiveArithmetic {
  /// Sets the result of an operation on the value, and returns it.
  @discardableResult
  fileprivate func change(_ operation: (T, T) -> T, _ right: T) -> T {
    let result = operation(value ?? .zero, right)
    value = result
    return result
  }
}

extension MutablePreference where T: Numeric {
  /// Adds to the value of a preference.
  public static func += (left: MutablePreference<T>, right: T) { left.change(+, right) }

  /// Subtracts from the value of a preference.
  public static func -= (left: MutablePreference<T>, right: T) { left.change(-, right) }

  /// Multiplies the value of a preference.
  public static func *= (left: MutablePreference<T>, right: T) { left.change(*, right) }

  /// Adds 1 to the value of a preference.
  @discardableResult
  public static prefix func ++ (preference: MutablePreference<T>) -> T {
    preference.change(+, 1)
  }

  /// Adds 1 to the value of a preference, and returns the old value, or 0 if there was none.
  @discardableResult
  public static postfix func ++ (preference: MutablePreference<T>) -> T {
    let value = preference.value ?? .zero
    preference.value = value + 1
    return value
  }

  /// Subtracts 1 from the value of a preference.
  @discardableResult
  public static prefix func -- (preference: MutablePreference<T>) -> T {
    preference.change(-, 1)
  }

  /// Subtracts 1 from the value of a preference, and returns the old value, or 0 if there was none.
  @discardableResult
  public static postfix func -- (preference: MutablePreference<T>) -> T {
    let value = preference.value ?? .zero
    preference.value = value - 1
    return value
  }
}

extension MutablePreference where T: BinaryInteger {
  /// Divides the value of a preference.
  public static func /= (left: MutablePreference<T>, right: T) { left.change(/, right) }

  /// Sets a preference to the remainder of the division of its value.
  public static func %= (left: MutablePreference<T>, right: T) { left.change(%, right) }

  /// Keeps the bits of a preference's value that are also set in another value.
  public static func &= (left: MutablePreference<T>, right: T) { left.change(&, right) }

  /// Sets bits in the value of a preference.
  public static func |= (left: MutablePreference<T>, right: T) { left.change(|, right) }

  /// Flips bits in the value of a preference.
  public static func ^= (left: MutablePreference<T>, right: T) { left.change(^, right) }

  /// Sets a preference to a value with all bits flipped.
  public static func ~= (left: inout MutablePreference<T>, right: T) { left.value = ~right }
}

extension MutablePreference where T: FloatingPoint {
  /// Divides the value of a preference.
  public static func /= (left: MutablePreference<T>, right: T) { left.change(/, right) }
}
