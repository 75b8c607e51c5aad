package import KeychainCredentials
internal import KeychainSecretService
internal import KeychainVault

extension CredentialStore {
  /// Checks, as far as possible without writing, that a credential can be stored.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - accessibility: Its accessibility.
  ///   - mode: Whether there must or must not be one of this identity. A vault checks that only
  ///     when it writes.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked`` or ``KeychainError/Code/noStore``.
  package func checkStoring(
    _ identity: CredentialIdentity, _ accessibility: Accessibility, mode: StoreMode = .addOnly
  ) throws(KeychainError) {
    switch self {
    case let automatic as AutomaticStore:
      let place = try automatic.decision(for: identity).place
      try automatic.store(at: place).checkStoring(identity, accessibility, mode: mode)
    case let vault as Vault: try vault.ensureReadable(accessibility.requires)
    case let keyring as SecretServiceStore:
      try keyring.checkStoring(identity, accessibility, mode: mode)
    default: break
    }
  }
}
