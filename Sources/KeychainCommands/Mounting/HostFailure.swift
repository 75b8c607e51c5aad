internal import KeychainCredentials

/// An error that a command threw while it ran, not one of the argument parser.
struct HostFailure: Error {
  let error: any Error

  init(_ error: any Error) { self.error = error }
}

extension KeychainError {
  /// Creates the failure of an error if commands report it with an exit code of its own; otherwise
  /// `nil`.
  init?(reportedFor error: any Error) {
    switch error {
    case let error as KeychainError: self = error
    case let error as any KeychainFailure: self = error.failure
    case is CancellationError: self.init(.cancelled, "cancelled")
    default: return nil
    }
  }
}
