// If only one side has a value, that value is the result. Otherwise the operators are those of the
// values: integers overflow as everywhere in Swift, by which the process stops.

extension Preference where T: Addable {
  /// Returns two values, joined.
  public static func + (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, +)
  }

  /// Returns two values, joined.
  public static func + (left: Preference<T>, right: T?) -> T? { combine(left.value, right, +) }

  /// Returns two values, joined.
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

  /// Returns the bits in both of two values.
  public static func & (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, &)
  }

  /// Returns the bits in both of two values.
  public static func & (left: Preference<T>, right: T?) -> T? { combine(left.value, right, &) }

  /// Returns the bits in both of two values.
  public static func & (left: T?, right: Preference<T>) -> T? { combine(left, right.value, &) }

  /// Returns the bits in either of two values.
  public static func | (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, |)
  }

  /// Returns the bits in either of two values.
  public static func | (left: Preference<T>, right: T?) -> T? { combine(left.value, right, |) }

  /// Returns the bits in either of two values.
  public static func | (left: T?, right: Preference<T>) -> T? { combine(left, right.value, |) }

  /// Returns the bits in one of two values.
  public static func ^ (left: Preference<T>, right: Preference<T>) -> T? {
    combine(left.value, right.value, ^)
  }

  /// Returns the bits in one of two values.
  public static func ^ (left: Preference<T>, right: T?) -> T? { combine(left.value, right, ^) }

  /// Returns the bits in one of two values.
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
