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
