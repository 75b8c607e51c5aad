package import KeychainCredentials

extension Vault: PostponingStore {
  /// Returns this vault for operations that neither ask nor hash; see the protocol.
  package func postponing(_ question: PostponedQuestion) -> any CredentialStore {
    Vault(self, PostponedUnlocking(question))
  }
}
