internal import Foundation
package import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

// What the choice between this and other stores asks a vault.
extension Vault {
  /// Whether something is in a vault, as far as one can tell without unlocking it.
  package enum Holding: Hashable, Sendable {
    /// There is no vault.
    case noVault

    /// There is a vault with nothing of it.
    case nothing

    /// It is there.
    case something

    /// That is visible to an unlocked vault only.
    case unknown
  }

  /// Looks whether the vault has credentials that match, locked ones included.
  ///
  /// Nobody is asked, no source of secrets is used, and nothing is prolonged. The query has at least one
  /// condition. A vault that was there and is gone is an error.
  package func holding(_ query: CredentialQuery) throws(KeychainError) -> Holding {
    guard let session = try session() else { return .noVault }
    let head = try session.readHead()
    guard let keys = try unlocker.keysAtHand(.nothing, head) else { return .unknown }
    return try session.opened.storage.read(session.deadline) {
      rows throws(KeychainError) -> Holding in
      guard try rows.vaultRow().checks == keys.checks else { return .unknown }
      let sealing = ItemSealing(keys: keys, device: nil)
      var tokens: Set<Data> = []
      for pair in query.pairs { tokens.insert(try sealing.token(of: pair)) }
      var found: Set<Data>?
      for token in tokens {
        let items = Set(try rows.items(withToken: token))
        found = found?.intersection(items) ?? items
      }
      // The other tree is looked at last, for it takes longer; one changed byte in this one could
      // hide an item.
      if found?.isEmpty == false { return .something }
      return try rows.items(withAll: tokens).isEmpty ? .nothing : .something
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
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/noStore`` if there was one and it is gone.
  package func isThere() throws(KeychainError) -> Bool { try session() != nil }

  /// Whether this machine's device secret is there.
  package func hasDeviceSecret() throws(KeychainError) -> Bool { try unlocker.device.find() != nil }
}
