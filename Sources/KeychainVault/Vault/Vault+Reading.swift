internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Returns a secret; see the protocol.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    guard let (row, sealing) = try item(identity) else { return nil }
    return try sealing.opened(row, group: identity.accessGroup, name: "\(identity)").stored()
  }

  /// Returns a credential; see the protocol.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    guard let (row, sealing) = try item(identity) else { return nil }
    return try sealing.credential(in: row, group: identity.accessGroup, name: "\(identity)")
  }

  /// Finds the row of an identity, and the keys that open it.
  private func item(
    _ identity: CredentialIdentity
  ) throws(KeychainError) -> (ItemRow, ItemSealing)? {
    guard let session = try session() else { return nil }
    let found = try session.read(.nothing) {
      rows, sealing, proven throws(KeychainError)
        -> VaultSession.Attempt<(ItemRow, ItemSealing)?> in
      let row = try proven.item(sealing.id(of: identity), name: "\(identity)", in: rows)
      if let row, !sealing.isOfOtherDevice(row),
        !sealing.keys.satisfies(row.accessibility.unlockRequirement)
      {
        return .again(row.accessibility.unlockRequirement)
      }
      return .done(row.map { ($0, sealing) })
    }
    if let found, found.0.accessibility.unlockRequirement == .unlockedNow {
      if let head = knownHead.value { unlocker.touch(head.row) }
    }
    return found
  }

  /// Searches; see the protocol.
  ///
  /// Locked items are counted, and nobody is asked for a passphrase to open them. A secret from an
  /// explicit or ambient source is used.
  public func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    guard let session = try session() else { return CredentialSearchResult(credentials: []) }
    return try session.read(try searchRequirement(session)) {
      rows, sealing, proven throws(KeychainError) in
      var search = VaultSearch(rows: rows, sealing: sealing, proven: proven)
      let result = try search.run(query)
      return .done(result)
    }
  }

  private func searchRequirement(
    _ session: VaultSession
  ) throws(KeychainError) -> Accessibility.UnlockRequirement {
    guard unlocker.hasUnattendedSource else { return .nothing }
    let head = try session.readHead()
    if let keys = try unlocker.keysAtHand(.nothing, head), keys.readable == .unlockedNow {
      return .unlockedNow
    }
    let counts = try session.opened.storage.read(session.deadline) {
      rows throws(KeychainError) in try rows.itemCounts()
    }
    return counts.keys.map(\.unlockRequirement).max() ?? .nothing
  }

  /// Makes sure that items with a requirement can be read, asking for the passphrase if needed and
  /// allowed.
  ///
  /// - Parameter requirement: What must be readable.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked``,
  ///   ``KeychainError/Code/incorrectSecret`` or ``KeychainError/Code/cancelled``. A missing vault
  ///   is not an error.
  public func ensureReadable(
    _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) {
    guard let session = try session() else { return }
    try session.requireReadable(requirement)
  }

  /// Observes changes by this handle, by other handles and by other processes; see the protocol.
  ///
  /// Nothing is polled. While there are observations, one thread waits until the kernel notifies it
  /// that the vault's file was written, and compares the items with the previous ones. Several
  /// changes of an item at short intervals may be reported as one. If another process changed many
  /// items, finding them takes one pass over all items.
  ///
  /// An observation asks for no passphrase and does not keep the vault unlocked longer. Changes of
  /// locked items by other processes are reported without their ``CredentialChange/identity``. If
  /// the kernel gives no notifications, only changes made through this handle are reported, and a
  /// notice says so; those changes and further observations try again, and then what was missed is
  /// reported. A vault that is missing or was rolled back reports nothing until it is there again,
  /// or accepted.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    observers.observe(observer)
  }
}
