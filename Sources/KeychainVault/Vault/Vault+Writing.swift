internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat

extension Vault {
  /// Stores a credential, making the vault if there is none; see the protocol.
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
    let identity = credential.identity
    let session = try sessionForFirstWrite()
    let device = try deviceSecret(for: credential.accessibility, session)
    let (stored, isNew) = try session.write(credential.accessibility.requires, device: device) {
      writer throws(KeychainError) in
      let old = try OldItem(identity, in: writer)
      if let again: VaultSession.Attempt<(Credential, Bool)> = try old?.again(writer) {
        return again
      }
      try mode.check(old?.credential, identity: identity)
      var new = credential
      new.stamp(
        version: writer.counter, created: old?.credential?.created, keepsDates: keepsDates)
      try writer.put(new, secret: secret, replacing: old?.found)
      return .done((new, old == nil))
    }
    finish(identity, isNew ? .added : .updated, credential.accessibility, session)
    return stored
  }

  /// Changes a credential; see the protocol.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    guard let session = try session() else { throw .notFound(identity) }
    let device = try update.accessibility.flatMap { accessibility throws(KeychainError) in
      try deviceSecret(for: accessibility, session)
    }
    let stored = try session.write(update.accessibility?.requires ?? .nothing, device: device) {
      writer throws(KeychainError) in
      guard let old = try OldItem(identity, in: writer) else { throw .notFound(identity) }
      if let again: VaultSession.Attempt<Credential> = try old.again(writer) { return again }
      guard let credential = old.credential else { throw .notFound(identity) }
      try credential.checkVersion(expectedVersion)
      var new = update.applied(to: credential)
      try new.checkRules(secretCount: nil)
      new.stamp(version: writer.counter, created: credential.created)
      let secret = try writer.sealing.secret(
        in: old.found.row, group: identity.accessGroup, name: "\(identity)")
      try writer.put(new, secret: secret, replacing: old.found)
      return .done(new)
    }
    finish(identity, .updated, stored.accessibility, session)
    return stored
  }

  /// Renames a credential; see the protocol.
  @discardableResult
  public func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    guard let session = try session() else { throw .notFound(identity) }
    // Looked at first, so that renaming to the same name writes nothing.
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
      new.stamp(version: writer.counter, created: credential.created)
      let secret = try writer.sealing.secret(
        in: old.found.row, group: identity.accessGroup, name: "\(identity)")
      try writer.remove(old.found)
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
    // Looked up first, so that removing what is not there writes nothing.
    guard try credential(for: identity) != nil else { return false }
    let removed = try session.write(.nothing) {
      writer throws(KeychainError) -> VaultSession.Attempt<Credential?> in
      // Somebody else may have removed it meanwhile.
      guard let old = try OldItem(identity, in: writer) else { return .done(nil) }
      if let again: VaultSession.Attempt<Credential?> = try old.again(writer) { return again }
      try old.credential?.checkVersion(expectedVersion)
      try writer.remove(old.found)
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
    if accessibility.requires == .unlockedNow, let head = session.knownHead.value {
      unlocker.touch(head.row.checks)
    }
  }

  private func deviceSecret(
    for accessibility: Accessibility, _ session: VaultSession
  ) throws(KeychainError) -> DeviceSecret? {
    guard accessibility.isThisDeviceOnly else { return nil }
    if let device = try unlocker.device.find() { return device }
    // Where the vault waits for a device secret that is gone, a new one must not take its place.
    try session.requireReadable(accessibility.requires)
    return try unlocker.device.findOrCreate()
  }

  /// Begins an operation that makes the vault if there is none.
  func sessionForFirstWrite() throws(KeychainError) -> VaultSession {
    if let session = try session() { return session }
    if let postponed, hasUnlockSource {
      throw postponed.postpone { [self] () throws(KeychainError) in try createForFirstWrite() }
    }
    try createForFirstWrite()
    return try existingSession()
  }
}

/// The item that a change meets.
private struct OldItem {
  let found: (row: ItemRow, tokens: [Data])

  /// The credential; `nil` if its keys are not at hand, in which case the change must be tried again.
  let credential: Credential?

  init?(
    _ identity: CredentialIdentity, in writer: borrowing VaultWriter
  ) throws(KeychainError) {
    let sealing = writer.sealing
    let name = "\(identity)"
    guard let found = try writer.item(try sealing.id(of: identity), name: name) else { return nil }
    self.found = found
    guard sealing.keys.satisfies(found.row.accessibility.requires) else {
      credential = nil
      return
    }
    // Both boxes: the sum of the state row is corrected by what these bytes had part in. Were they
    // changed outside the vault, it would be wrong for ever.
    credential = try sealing.opened(found.row, group: identity.accessGroup, name: name).credential
  }

  /// Asks for the keys of the item's class, if they are not at hand.
  func again<Result>(
    _ writer: borrowing VaultWriter
  ) throws(KeychainError) -> VaultSession.Attempt<Result>? {
    guard credential == nil else { return nil }
    return .again(found.row.accessibility.requires, try VaultHead(writer.rows))
  }
}

extension VaultWriter {
  /// Seals a credential and puts it in the place of the old one.
  mutating func put(
    _ credential: Credential, secret: borrowing SecretBytes,
    replacing old: (row: ItemRow, tokens: [Data])?
  ) throws(KeychainError) {
    if credential.accessibility == .whenPasscodeSetThisDeviceOnly {
      guard try rows.slots().intact.contains(where: { $0.kind == .passphrase }) else {
        throw KeychainError(
          .refused, "\(credential.identity) asks for a vault with a passphrase, and this has none",
          recovery: "add one with `prefs keychain slots add --passphrase`")
      }
    }
    let id = try sealing.id(of: credential.identity)
    let item = try sealing.seal(credential, secret: secret, id: id)
    try noteGroup(credential.identity.accessGroup, credential.accessibility)
    try put(item, tokens: try sealing.tokens(of: credential, id: id), replacing: old)
  }
}
