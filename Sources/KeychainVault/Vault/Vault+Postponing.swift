package import KeychainCredentials

extension Vault: PostponingStore {
  /// Returns this vault with operations that neither ask nor hash; see the protocol.
  package func postponing(_ question: PostponedQuestion) -> any CredentialStore {
    Vault(self, PostponedUnlocking(question))
  }
}
