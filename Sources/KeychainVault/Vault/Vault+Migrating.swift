package import KeychainCredentials
package import KeychainSecrets

extension Vault: CredentialReceiver {
  /// Items that stay on this machine are sealed under its device secret.
  package var bindsToDevice: Bool { true }

  /// Stores a credential with its dates; see the protocol.
  @discardableResult
  package func receive(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    try store(credential, secret: secret, mode: mode, keepsDates: true)
  }

  /// Makes sure that every item can be read, asking for the passphrase if needed and allowed, and
  /// that nothing in the vault was changed from outside.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no vault,
  ///   ``KeychainError/Code/locked``, or ``KeychainError/Code/damaged``.
  package func requireReadableAndIntact() throws(KeychainError) {
    let counts = try itemCounts(matching: nil)
    try ensureReadable(counts.keys.map(\.unlockRequirement).max() ?? .nothing)
    try verify().requireIntact()
  }
}
