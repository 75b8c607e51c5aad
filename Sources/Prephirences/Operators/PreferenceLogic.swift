// A preference without a value counts as `false`, the empty value of `Bool`.

extension Preference where T: LogicalOperationsType & Initializable {
  /// Returns the conjunction of the value of a preference and another one.
  public static func && (
    left: Preference<T>, right: @autoclosure () throws -> T
  ) rethrows -> T {
    try (left.value ?? T()) && right()
  }

  /// Returns the disjunction of the value of a preference and another one.
  public static func || (
    left: Preference<T>, right: @autoclosure () throws -> T
  ) rethrows -> T {
    try (left.value ?? T()) || right()
  }
}

extension MutablePreference where T: LogicalOperationsType & Initializable {
  /// Sets a preference to the conjunction of its value and another one.
  public static func &&= (
    left: MutablePreference<T>, right: @autoclosure () throws -> T
  ) rethrows {
    left.value = try (left.value ?? T()) && right()
  }

  /// Sets a preference to the disjunction of its value and another one.
  public static func ||= (
    left: MutablePreference<T>, right: @autoclosure () throws -> T
  ) rethrows {
    left.value = try (left.value ?? T()) || right()
  }

  /// Sets a preference to the conjunction of its value and another one.
  public static func &= (left: MutablePreference<T>, right: T) {
    left.value = (left.value ?? T()) && right
  }

  /// Sets a preference to the disjunction of its value and another one.
  public static func |= (left: MutablePreference<T>, right: T) {
    left.value = (left.value ?? T()) || right
  }

  /// Sets a preference to the negation of a value.
  ///
  /// This is the operator of a statement, `enabled != true`. Where a truth value is expected, as in
  /// `if enabled != true`, the same operator compares.
  public static func != (left: inout MutablePreference<T>, right: T) { left.value = !right }
}

/// Sets a truth value to its conjunction with another one.
///
/// - Parameters:
///   - left: The value that is set.
///   - right: The other one, which may not be needed.
/// - Throws: What the other one throws.
public func &&= <T: Conjunctive>(
  left: inout T, right: @autoclosure () throws -> T
) rethrows {
  left = try left && right()
}

/// Sets a truth value to its disjunction with another one.
///
/// - Parameters:
///   - left: The value that is set.
///   - right: The other one, which may not be needed.
/// - Throws: What the other one throws.
public func ||= <T: Disjunctive>(
  left: inout T, right: @autoclosure () throws -> T
) rethrows {
  left = try left || right()
}
