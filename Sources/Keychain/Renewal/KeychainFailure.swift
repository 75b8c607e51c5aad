package import KeychainCredentials

/// An error of this module that has a failure of the store behind it, for programs that report either.
package protocol KeychainFailure: Error {
  /// What failed and what to do next, with the code of the failure behind it.
  var failure: KeychainError { get }
}

extension UnsavedValueError: KeychainFailure {
  package var failure: KeychainError {
    KeychainError(
      reason.code, errorDescription ?? reason.message, recovery: recovery,
      underlying: reason.underlying)
  }
}
