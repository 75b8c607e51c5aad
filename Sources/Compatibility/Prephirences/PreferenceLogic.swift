// The operators compare values; a missing value is `nil`.

extension Preference where T: Equatable {
  /// Returns whether the values of two preferences are equal.
  public static func == (left: Preference<T>, right: Preference<T>) -> Bool {
    left.value == right.value
  }

  /// Returns whether the value of a preference equals another value.
  public static func == (left: Preference<T>, right: T?) -> Bool { left.value == right }

  /// Returns whether the value of a preference equals another value.
  public static func == (left: T?, right: Preference<T>) -> Bool { left == right.value }

  /// Returns whether the values of two preferences differ.
  public static func != (left: Preference<T>, right: Preference<T>) -> Bool {
    left.value != right.value
  }

  /// Returns whether the value of a preference differs from another value.
  public static func != (left: Preference<T>, right: T?) -> Bool { left.value != right }

  /// Returns whether the value of a preference differs from another value.
  public static func != (left: T?, right: Preference<T>) -> Bool { left != right.value }

  /// Returns whether the value of a preference matches a `case` value, in a `switch` over the
  /// preference.
  public static func ~= (value: T, preference: Preference<T>) -> Bool {
    preference.value == value
  }

  /// Returns whether a value matches a `case` preference, in a `switch` over the value.
  public static func ~= (preference: Preference<T>, value: T?) -> Bool {
    preference.value == value
  }
}

extension Preference {
  /// Returns whether a preference has no value of its type.
  public static func == (left: Preference<T>, right: _OptionalNilComparisonType) -> Bool {
    left.isEmpty
  }

  /// Returns whether a preference has a value of its type.
  public static func != (left: Preference<T>, right: _OptionalNilComparisonType) -> Bool {
    !left.isEmpty
  }
}

extension Preference where T: Comparable {
  /// Returns whether the value of a preference is in a range, in a `switch` over the preference.
  public static func ~= <Range: RangeExpression<T>>(
    range: Range, preference: Preference<T>
  ) -> Bool {
    preference.value.map(range.contains) ?? false
  }

  /// Returns whether the value of a preference is in a range.
  public static func ~= <Range: RangeExpression<T>>(
    preference: Preference<T>, range: Range
  ) -> Bool {
    preference.value.map(range.contains) ?? false
  }

  /// Returns whether one value is less than the other; `nil` is less than any value.
  public static func < (left: Preference<T>, right: Preference<T>) -> Bool {
    isLess(left.value, right.value)
  }

  /// Returns whether one value is less than the other; `nil` is less than any value.
  public static func < (left: Preference<T>, right: T?) -> Bool { isLess(left.value, right) }

  /// Returns whether one value is less than the other; `nil` is less than any value.
  public static func < (left: T?, right: Preference<T>) -> Bool { isLess(left, right.value) }

  /// Returns whether one value is greater than the other; `nil` is less than any value.
  public static func > (left: Preference<T>, right: Preference<T>) -> Bool {
    isLess(right.value, left.value)
  }

  /// Returns whether one value is greater than the other; `nil` is less than any value.
  public static func > (left: Preference<T>, right: T?) -> Bool { isLess(right, left.value) }

  /// Returns whether one value is greater than the other; `nil` is less than any value.
  public static func > (left: T?, right: Preference<T>) -> Bool { isLess(right.value, left) }

  private static func isLess(_ left: T?, _ right: T?) -> Bool {
    guard let right else { return false }
    return left.map { $0 < right } ?? true
  }
}

// A preference without a value counts as `false`, the empty value of `Bool`.

extension Preference where T: LogicalOperationsType & Initializable {
  /// Returns the conjunction of a preference's value and another value.
  public static func && (
    left: Preference<T>, right: @autoclosure () throws -> T
  ) rethrows -> T {
    try (left.value ?? T()) && right()
  }

  /// Returns the disjunction of a preference's value and another value.
  public static func || (
    left: Preference<T>, right: @autoclosure () throws -> T
  ) rethrows -> T {
    try (left.value ?? T()) || right()
  }
}

extension MutablePreference where T: LogicalOperationsType & Initializable {
  /// Sets a preference to the conjunction of its value and another value.
  public static func &&= (
    left: MutablePreference<T>, right: @autoclosure () throws -> T
  ) rethrows {
    left.value = try (left.value ?? T()) && right()
  }

  /// Sets a preference to the disjunction of its value and another value.
  public static func ||= (
    left: MutablePreference<T>, right: @autoclosure () throws -> T
  ) rethrows {
    left.value = try (left.value ?? T()) || right()
  }

  /// Sets a preference to the conjunction of its value and another value.
  public static func &= (left: MutablePreference<T>, right: T) {
    left.value = (left.value ?? T()) && right
  }

  /// Sets a preference to the disjunction of its value and another value.
  public static func |= (left: MutablePreference<T>, right: T) {
    left.value = (left.value ?? T()) || right
  }

  /// Sets a preference to the negation of a value.
  ///
  /// As a statement, `enabled != true` assigns. Where a truth value is expected, as in `if enabled
  /// != true`, the same operator compares.
  public static func != (left: inout MutablePreference<T>, right: T) { left.value = !right }
}

/// Sets a truth value to its conjunction with another one, which is evaluated only if needed;
/// rethrows its error.
public func &&= <T: Conjunctive>(
  left: inout T, right: @autoclosure () throws -> T
) rethrows {
  left = try left && right()
}

/// Sets a truth value to its disjunction with another one, which is evaluated only if needed;
/// rethrows its error.
public func ||= <T: Disjunctive>(
  left: inout T, right: @autoclosure () throws -> T
) rethrows {
  left = try left || right()
}
