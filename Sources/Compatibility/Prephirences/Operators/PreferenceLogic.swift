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

/// Sets a truth value to its conjunction with another truth value.
///
/// - Parameters:
///   - left: The value to set.
///   - right: The other value, which is evaluated only if needed.
/// - Throws: The error of the other value.
public func &&= <T: Conjunctive>(
  left: inout T, right: @autoclosure () throws -> T
) rethrows {
  left = try left && right()
}

/// Sets a truth value to its disjunction with another truth value.
///
/// - Parameters:
///   - left: The value to set.
///   - right: The other value, which is evaluated only if needed.
/// - Throws: The error of the other value.
public func ||= <T: Disjunctive>(
  left: inout T, right: @autoclosure () throws -> T
) rethrows {
  left = try left || right()
}
