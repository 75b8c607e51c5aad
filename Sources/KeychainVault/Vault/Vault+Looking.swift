internal import Foundation
package import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

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
    let head = try session.readHead()
    guard let keys = try unlocker.keysAtHand(.nothing, head) else { return .unknown }
    return try session.opened.storage.read(session.deadline) {
      rows throws(KeychainError) -> Presence in
      guard try rows.vaultRow().checks == keys.checks else { return .unknown }
      let sealing = ItemSealing(keys: keys, device: nil)
      var tokens: Set<Data> = []
      for pair in query.pairs { tokens.insert(try sealing.token(of: pair)) }
      var found: Set<Data>?
      for token in tokens {
        let items = Set(try rows.items(withToken: token))
        found = found?.intersection(items) ?? items
      }
      // The other tree is searched last because that takes longer. It is needed because one changed
      // byte in this tree could hide an item.
      if found?.isEmpty == false { return .present }
      return try rows.items(withAll: tokens).isEmpty ? .absent : .present
    }
  }

  /// Whether the vault has a credential, which is not opened and may be locked.
  package func contains(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    guard let session = try session() else { return false }
    return try session.read(.nothing) { rows, sealing, _ throws(KeychainError) in
      .done(try rows.findItem(sealing.id(of: identity), name: "\(identity)") != nil)
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
