package import KeychainSecrets

extension KeychainError {
  /// Creates the error for a failure of memory or cryptography that only the machine can have
  /// caused.
  package init(_ error: SecretsError) {
    switch error.code {
    case .outOfMemory:
      self.init(.insufficientMemory, "there is not enough memory to hold a secret")
    case .inputOutput:
      self.init(
        .inputOutput, error.description, underlying: .system(errno: error.systemError))
    default:
      self.init(.internalFailure, error.description)
    }
  }
}

/// Evaluates an expression that uses guarded memory or cryptography, and translates its failure.
package func translated<Result: ~Copyable>(
  secrets result: @autoclosure () throws(SecretsError) -> Result
) throws(KeychainError) -> Result {
  try translating(result)
}

/// Calls a closure that uses guarded memory or cryptography, and translates its failure.
package func translating<Result: ~Copyable>(
  _ body: () throws(SecretsError) -> Result
) throws(KeychainError) -> Result {
  do { return try body() } catch { throw KeychainError(error) }
}

/// Evaluates an expression that opens or reads something guarded; `nil` if it fails with `code`.
package func unlessRefused<Result: ~Copyable>(
  _ result: @autoclosure () throws(SecretsError) -> Result,
  code: SecretsError.Code = .authenticationFailed
) throws(KeychainError) -> Result? {
  do throws(SecretsError) {
    return try result()
  } catch {
    guard error.code == code else { throw KeychainError(error) }
    return nil
  }
}
