internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat

extension Vault {
  /// Stores a credential, creating the vault if there is none; see the protocol.
  @discardableResult
  public func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    try store(credential, secret: secret, mode: mode, keepsDates: false)
  }

  func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode, keepsDates: Bool
  ) throws(KeychainError) -> Credential {
    try credential.checkRules(secretCount: secret.count)
    let session = try sessionForFirstWrite()
    return try write(
      credential.identity, credential.accessibility, keepsDates: keepsDates, session
    ) { old throws(KeychainError) in
      try mode.check(old, identity: credential.identity)
      return credential
    } putting: { new, old, writer throws(KeychainError) in
      try writer.put(new, secret: secret, replacing: old)
    }.credential
  }

  /// Stores a secret, and keeps the other fields of its credential; see the protocol.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential {
    // A write that is always refused must not create a vault.
    try update.applied(to: Credential(identity)).checkRules(secretCount: secret.count)
    let session = try sessionForFirstWrite()
    return try write(identity, update.accessibility, session) { old throws(KeychainError) in
      try mode.check(old, identity: identity)
      let merged = update.applied(to: old ?? Credential(identity))
      try merged.checkRules(secretCount: nil)
      return merged
    } putting: { new, old, writer throws(KeychainError) in
      try writer.put(new, secret: secret, replacing: old)
    }
  }

  /// Changes a credential; see the protocol.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    guard let session = try session() else { throw .notFound(identity) }
    return try write(identity, update.accessibility, session) { old throws(KeychainError) in
      guard let old else { throw .notFound(identity) }
      try old.checkVersion(expectedVersion)
      let changed = update.applied(to: old)
      try changed.checkRules(secretCount: nil)
      return changed
    } putting: { new, old, writer throws(KeychainError) in
      guard let old else { throw .notFound(identity) }
      let secret = try writer.sealing.secret(
        in: old, group: identity.accessGroup, name: "\(identity)")
      try writer.put(new, secret: secret, replacing: old)
    }.credential
  }

  /// Replaces or adds the credential of an identity, in one transaction.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - accessibility: The new accessibility; `nil` if it depends on the stored credential.
  ///   - keepsDates: Whether to store the dates of the new credential.
  ///   - session: The session of the operation.
  ///   - change: Returns the new credential for the stored one, or throws.
  ///   - put: Writes the new credential with its secret.
  /// - Returns: The credential as written, and the one that it replaced.
  /// - Throws: What the closures throw, or ``KeychainError`` from the vault.
  private func write(
    _ identity: CredentialIdentity, _ accessibility: Accessibility?, keepsDates: Bool = false,
    _ session: VaultSession,
    changing change: (Credential?) throws(KeychainError) -> Credential,
    putting put: (Credential, ItemRow?, inout VaultWriter) throws(KeychainError) -> Void
  ) throws(KeychainError) -> MergedCredential {
    let device = try accessibility.flatMap { accessibility throws(KeychainError) in
      try deviceSecret(for: accessibility, session)
    }
    let merged = try session.write(accessibility?.unlockRequirement ?? .nothing, device: device) {
      writer throws(KeychainError) -> VaultSession.Attempt<MergedCredential> in
      let old = try OldItem(identity, in: writer)
      if let old, let again: VaultSession.Attempt<MergedCredential> = try old.again(writer) {
        return again
      }
      var new = try change(old?.credential)
      let requirement = new.accessibility.unlockRequirement
      guard writer.sealing.keys.satisfies(requirement) else {
        return .again(requirement)
      }
      new.stamp(
        version: try ItemVersion.random(), created: old?.credential?.created, keepsDates: keepsDates
      )
      try put(new, old?.row, &writer)
      return .done(MergedCredential(credential: new, replaced: old?.credential))
    }
    finish(
      identity, merged.replaced == nil ? .added : .updated, merged.credential.accessibility, session
    )
    return merged
  }

  /// Renames a credential; see the protocol.
  @discardableResult
  public func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    guard let session = try session() else { throw .notFound(identity) }
    // Checked first, so that renaming to the same name writes nothing.
    if identity == newIdentity {
      guard let credential = try credential(for: identity) else { throw .notFound(identity) }
      try credential.checkVersion(expectedVersion)
      return credential
    }
    let renamed = try session.write(.nothing) { writer throws(KeychainError) in
      guard let old = try OldItem(identity, in: writer) else { throw .notFound(identity) }
      if let again: VaultSession.Attempt<Credential> = try old.again(writer) { return again }
      guard let credential = old.credential else { throw .notFound(identity) }
      try credential.checkVersion(expectedVersion)
      let id = try writer.sealing.id(of: newIdentity)
      guard try writer.item(id, name: "\(newIdentity)") == nil else {
        throw .alreadyExists(newIdentity)
      }
      var new = try credential.renamed(newIdentity)
      new.stamp(version: try ItemVersion.random(), created: credential.created)
      let secret = try writer.sealing.secret(
        in: old.row, group: identity.accessGroup, name: "\(identity)")
      try writer.remove(old.row)
      try writer.put(new, secret: secret, replacing: nil)
      return .done(new)
    }
    prolong(renamed.accessibility, session)
    observers.notifyOfRenaming(identity, to: newIdentity)
    return renamed
  }

  /// Removes a credential; see the protocol.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    guard let session = try session() else { return false }
    // Looked up first, so that removing a missing item writes nothing.
    guard try credential(for: identity) != nil else { return false }
    let removed = try session.write(.nothing) {
      writer throws(KeychainError) -> VaultSession.Attempt<Credential?> in
      // Another process may have removed it meanwhile.
      guard let old = try OldItem(identity, in: writer) else { return .done(nil) }
      if let again: VaultSession.Attempt<Credential?> = try old.again(writer) { return again }
      try old.credential?.checkVersion(expectedVersion)
      try writer.remove(old.row)
      return .done(old.credential)
    }
    guard let removed else { return false }
    finish(identity, .removed, removed.accessibility, session)
    return true
  }

  private func finish(
    _ identity: CredentialIdentity, _ kind: CredentialChange.Kind,
    _ accessibility: Accessibility, _ session: VaultSession
  ) {
    prolong(accessibility, session)
    observers.notify(CredentialChange(identity, kind))
  }

  private func prolong(_ accessibility: Accessibility, _ session: VaultSession) {
    if accessibility.unlockRequirement == .unlockedNow, let head = session.knownHead.value {
      unlocker.touch(head.row)
    }
  }

  private func deviceSecret(
    for accessibility: Accessibility, _ session: VaultSession
  ) throws(KeychainError) -> DeviceSecret? {
    guard accessibility.isThisDeviceOnly else { return nil }
    if let device = try unlocker.device.find() { return device }
    // If the vault expects a device secret that is gone, a new one must not replace it.
    try session.requireReadable(accessibility.unlockRequirement)
    return try unlocker.device.findOrCreate()
  }

  /// Begins an operation that creates the vault if there is none.
  func sessionForFirstWrite() throws(KeychainError) -> VaultSession {
    if let session = try session() { return session }
    if let postponed, hasUnlockSource {
      throw postponed.postpone { [self] () throws(KeychainError) in try createForFirstWrite() }
    }
    try createForFirstWrite()
    return try existingSession()
  }
}

/// The stored item before a change.
private struct OldItem {
  let row: ItemRow

  /// The credential; `nil` if its keys are not at hand, so that the change must be tried again.
  let credential: Credential?

  init?(
    _ identity: CredentialIdentity, in writer: borrowing VaultWriter
  ) throws(KeychainError) {
    let sealing = writer.sealing
    let name = "\(identity)"
    guard let row = try writer.item(try sealing.id(of: identity), name: name) else { return nil }
    self.row = row
    // Keys do not open an item of another device, so nobody is asked for them.
    guard
      sealing.isOfOtherDevice(row)
        || sealing.keys.satisfies(row.accessibility.unlockRequirement)
    else {
      credential = nil
      return
    }
    credential = try sealing.credential(in: row, group: identity.accessGroup, name: name)
  }

  /// Requests the keys of the item's class, if they are not at hand.
  func again<Result>(
    _ writer: borrowing VaultWriter
  ) throws(KeychainError) -> VaultSession.Attempt<Result>? {
    guard credential == nil else { return nil }
    return .again(row.accessibility.unlockRequirement)
  }
}

extension VaultWriter {
  /// Seals a credential, and replaces the old item with it.
  mutating func put(
    _ credential: Credential, secret: borrowing SecretBytes,
    replacing old: ItemRow?
  ) throws(KeychainError) {
    try requireAllowed(credential)
    let id = try sealing.id(of: credential.identity)
    let item = try sealing.seal(credential, secret: secret, id: id)
    try noteGroup(credential.identity.accessGroup, credential.accessibility)
    try put(item, replacing: old)
  }

  /// Fails if a vault with these members cannot have such an item.
  func requireAllowed(_ credential: Credential) throws(KeychainError) {
    if list.vaultKind == .shared, credential.accessibility.isThisDeviceOnly {
      throw KeychainError(
        .refused,
        "\(credential.identity) would stay on this device, and members share this vault",
        recovery: "choose an accessibility without ThisDeviceOnly")
    }
    if credential.accessibility == .whenPasscodeSetThisDeviceOnly {
      guard list.hasPassphrase else {
        throw KeychainError(
          .refused,
          "\(credential.identity) needs a vault with a passphrase, and this vault has none",
          recovery: .addPassphrase)
      }
    }
  }
}
