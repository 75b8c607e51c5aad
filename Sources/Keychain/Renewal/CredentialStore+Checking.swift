internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainVault

extension CredentialStore {
  /// Makes sure, as far as can be known without writing, that a new credential can be stored.
  ///
  /// - Parameters:
  ///   - identity: What names the credential, which is not there.
  ///   - accessibility: Its accessibility.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked`` or ``KeychainError/Code/noStore``.
  func checkStoring(
    _ identity: CredentialIdentity, _ accessibility: Accessibility
  ) throws(KeychainError) {
    switch self {
    case let automatic as AutomaticStore:
      let place = try automatic.decision(for: identity).place
      try automatic.store(at: place).checkStoring(identity, accessibility)
    case let vault as Vault: try vault.ensureReadable(accessibility.requires)
    case let keyring as SecretServiceStore: try keyring.checkStoring(identity, mode: .addOnly)
    default: break
    }
  }
}
