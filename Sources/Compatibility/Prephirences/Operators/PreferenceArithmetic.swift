// If only one side has a value, that value is the result. Otherwise the values' own operators
// apply: integer overflow stops the process, as everywhere in Swift.

extension Preference where T: Addable {
  /// Joins two values.
  public static func + (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, +)
  }

  /// Joins two values.
  public static func + (left: Preference<T>, right: T?) -> T? { combine(left.value, right, +) }

  /// Joins two values.
  public static func + (left: T?, right: Preference<T>) -> T? { combine(left, right.value, +) }
}

extension Preference where T: Numeric {
  /// Returns the sum of two values.
  public static func + (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, +)
  }

  /// Returns the sum of two values.
  public static func + (left: Preference<T>, right: T?) -> T? { combine(left.value, right, +) }

  /// Returns the sum of two values.
  public static func + (left: T?, right: Preference<T>) -> T? { combine(left, right.value, +) }

  /// Returns the difference of two values.
  public static func - (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, -)
  }

  /// Returns the difference of two values.
  public static func - (left: Preference<T>, right: T?) -> T? { combine(left.value, right, -) }

  /// Returns the difference of two values.
  public static func - (left: T?, right: Preference<T>) -> T? { combine(left, right.value, -) }

  /// Returns the product of two values.
  public static func * (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, *)
  }

  /// Returns the product of two values.
  public static func * (left: Preference<T>, right: T?) -> T? { combine(left.value, right, *) }

  /// Returns the product of two values.
  public static func * (left: T?, right: Preference<T>) -> T? { combine(left, right.value, *) }
}

extension Preference where T: BinaryInteger {
  /// Returns the quotient of two values.
  public static func / (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, /)
  }

  /// Returns the quotient of two values.
  public static func / (left: Preference<T>, right: T?) -> T? { combine(left.value, right, /) }

  /// Returns the quotient of two values.
  public static func / (left: T?, right: Preference<T>) -> T? { combine(left, right.value, /) }

  /// Returns the remainder of two values.
  public static func % (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, %)
  }

  /// Returns the remainder of two values.
  public static func % (left: Preference<T>, right: T?) -> T? { combine(left.value, right, %) }

  /// Returns the remainder of two values.
  public static func % (left: T?, right: Preference<T>) -> T? { combine(left, right.value, %) }

  /// Returns the bits that are set in both values.
  public static func & (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, &)
  }

  /// Returns the bits that are set in both values.
  public static func & (left: Preference<T>, right: T?) -> T? { combine(left.value, right, &) }

  /// Returns the bits that are set in both values.
  public static func & (left: T?, right: Preference<T>) -> T? { combine(left, right.value, &) }

  /// Returns the bits that are set in either value.
  public static func | (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, |)
  }

  /// Returns the bits that are set in either value.
  public static func | (left: Preference<T>, right: T?) -> T? { combine(left.value, right, |) }

  /// Returns the bits that are set in either value.
  public static func | (left: T?, right: Preference<T>) -> T? { combine(left, right.value, |) }

  /// Returns the bits that are set in exactly one of two values.
  public static func ^ (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, ^)
  }

  /// Returns the bits that are set in exactly one of two values.
  public static func ^ (left: Preference<T>, right: T?) -> T? { combine(left.value, right, ^) }

  /// Returns the bits that are set in exactly one of two values.
  public static func ^ (left: T?, right: Preference<T>) -> T? { combine(left, right.value, ^) }
}

extension Preference where T: FloatingPoint {
  /// Returns the quotient of two values.
  public static func / (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, /)
  }

  /// Returns the quotient of two values.
  public static func / (left: Preference<T>, right: T?) -> T? { combine(left.value, right, /) }

  /// Returns the quotient of two values.
  public static func / (left: T?, right: Preference<T>) -> T? { combine(left, right.value, /) }
}
