internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Returns a secret; see the protocol.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    guard let (item, contents, sealing) = try item(identity) else { return nil }
    return StoredSecret(
      credential: try sealing.credential(of: item, name: "\(identity)"),
      secret: try sealing.secret(of: item, in: contents, name: "\(identity)"))
  }

  /// Returns a credential; see the protocol.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    guard let (item, _, sealing) = try item(identity) else { return nil }
    return try sealing.credential(of: item, name: "\(identity)")
  }

  /// Finds the item of an identity, with the keys that open it.
  private func item(
    _ identity: CredentialIdentity
  ) throws(KeychainError) -> (VaultItem, VaultContents, ItemSealing)? {
    guard let session = try session() else { return nil }
    let found = try session.read(.nothing) {
      contents, sealing throws(KeychainError)
        -> VaultSession.Attempt<(VaultItem, VaultContents, ItemSealing)?> in
      let item = try contents.item(
        sealing.id(of: identity), sealing.keys, name: "\(identity)")
      guard let item else { return .done(nil) }
      guard sealing.isOfOtherDevice(item.entry) || sealing.keys.satisfies(item.requirement) else {
        return .again(item.requirement)
      }
      return .done((item, contents, sealing))
    }
    if let found, found.0.requirement == .unlockedNow { unlocker.touch(found.1.head) }
    return found
  }

  /// Searches; see the protocol.
  ///
  /// Locked items are counted, and nobody is asked for a passphrase to open them. A secret from an
  /// explicit or ambient source is used.
  public func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    guard let session = try session() else { return CredentialSearchResult(credentials: []) }
    return try session.read(.nothing) { contents, sealing throws(KeychainError) in
      let found = try contents.search(query, sealing)
      guard found.lockedCount > 0, unlocker.hasUnattendedSource, !sealing.keys.hasAll else {
        return .done(found)
      }
      return .again(.unlockedNow)
    }
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
