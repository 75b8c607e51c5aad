internal import KeychainCredentials

/// An error that a command threw while it ran, and not the argument parser before.
struct HostFailure: Error {
  let error: any Error

  init(_ error: any Error) { self.error = error }
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
