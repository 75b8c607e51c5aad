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
      guard try rows.headRow().owns(keys) else { return .unknown }
      var search = VaultSearch(
        rows: rows, sealing: ItemSealing(keys: keys, device: nil),
        proven: try session.proven(rows, keys))
      let found = try search.run(query)
      let count = found.lockedCount + found.otherDeviceCount + found.damaged.count
      return found.credentials.isEmpty && count == 0 ? .absent : .present
    }
  }

  /// Whether the vault has a credential, which is not opened and may be locked.
  package func contains(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    guard let session = try session() else { return false }
    return try session.read(.nothing) { rows, sealing, proven throws(KeychainError) in
      let id = try sealing.id(of: identity)
      return .done(try proven.item(id, name: "\(identity)", in: rows) != nil)
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
