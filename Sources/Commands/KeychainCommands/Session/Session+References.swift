internal import KeychainCredentials

extension Session {
  /// Calls `body`, which resolves a reference, and explains the error if the credential is absent.
  func explaining<Result: ~Copyable>(
    _ reference: CredentialReference, _ body: () throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    do throws(KeychainError) {
      return try body()
    } catch {
      guard error.code == .notFound else { throw error }
      guard let identity = try? resolver().identity(of: reference), error == .notFound(identity)
      else { throw explainingMissingVault(error) }
      throw notFound(identity)
    }
  }
}
