internal import KeychainCredentials
internal import KeychainSecrets

/// Calls `body`, and converts its error to one that commands report.
func translating<Result: ~Copyable>(
  _ body: () throws(SecretsError) -> Result
) throws(KeychainError) -> Result {
  do { return try body() } catch { throw KeychainError(error) }
}
