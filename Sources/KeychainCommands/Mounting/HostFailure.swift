internal import KeychainCredentials

/// What a command threw while it ran, as opposed to what the argument parser throws before.
struct HostFailure: Error {
  let error: any Error

  init(_ error: any Error) { self.error = error }

  /// Whether the argument parser passes on what a command's own `validate()` threw.
  ///
  /// The parser has no public name for that. An error that is not recognised counts as the parser's.
  static func isValidation(_ error: any Error) -> Bool {
    let fault = Mirror(reflecting: error).children.first { $0.label == "parserError" }?.value
    return fault.map { Mirror(reflecting: $0).children.first?.label } == "userValidationError"
  }
}

extension KeychainError {
  /// The failure behind an error, if commands report it with an exit code of its own; `nil` for others.
  init?(reportedFor error: any Error) {
    switch error {
    case let error as KeychainError: self = error
    case let error as any KeychainFailure: self = error.failure
    case is CancellationError: self.init(.cancelled, "cancelled")
    default: return nil
    }
  }
}
