package import KeychainCredentials
internal import KeychainVaultFormat

// What the choice between this and other stores asks a vault.
extension Vault {
  /// Whether a vault has matching items, as far as is visible without unlocking it.
  package enum Presence: Hashable, Sendable {
    /// There is no vault.
    case noVault

    /// The vault has no matching item.
    case absent

    /// The vault has a matching item.
    case present

    /// Only an unlocked vault can answer.
    case unknown
  }

  /// Returns whether the vault has credentials that match, including locked ones.
  ///
  /// It asks nobody, uses no source of secrets, and does not extend the unlocked time. The query
  /// must have at least one condition. A vault that was there and is gone is an error.
  package func presence(of query: CredentialQuery) throws(KeychainError) -> Presence {
    guard let session = try session() else { return .noVault }
    guard let found = try session.glance(query) else { return .unknown }
    let count = found.lockedCount + found.otherDeviceCount + found.damaged.count
    return found.credentials.isEmpty && count == 0 ? .absent : .present
  }

  /// Whether the vault has a credential, which is not opened and may be locked.
  package func contains(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    guard let session = try session() else { return false }
    return try session.read(.nothing) { contents, sealing throws(KeychainError) in
      let id = try sealing.id(of: identity)
      return .done(try contents.item(id, sealing.keys, name: "\(identity)") != nil)
    }
  }

  /// Whether there is a vault.
  ///
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/noStore`` if there was a vault and it
  ///   is gone.
  package func isThere() throws(KeychainError) -> Bool { try session() != nil }

  /// Whether this machine has a device secret.
  package func hasDeviceSecret() throws(KeychainError) -> Bool { try unlocker.device.find() != nil }
}
