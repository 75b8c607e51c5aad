precedencegroup BackwardPipePrecedence {
  associativity: left
  higherThan: AssignmentPrecedence
}

/// Takes the preference of a key out of preferences.
infix operator <| : BackwardPipePrecedence

/// Sets what has no value yet.
infix operator ?= : AssignmentPrecedence

/// Sets a truth value to its conjunction with another one.
infix operator &&= : AssignmentPrecedence

/// Sets a truth value to its disjunction with another one.
infix operator ||= : AssignmentPrecedence
