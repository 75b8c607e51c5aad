internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

// Changes of credentials. Each either asks for other keys, before it has changed anything, or is done.
extension VaultWriter {
  /// Replaces or adds the credential of an identity.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - mode: Whether it may or must exist.
  ///   - keepsDates: Whether to store the dates of the new credential.
  ///   - change: Returns the new credential for the stored one, or throws.
  ///   - put: Writes the new credential with its secret.
  /// - Returns: The credential as written, and the one that it replaced.
  /// - Throws: What the closures throw, or ``KeychainError`` from the vault.
  private mutating func change(
    _ identity: CredentialIdentity, mode: StoreMode = .addOrReplace, keepsDates: Bool = false,
    _ change: (Credential?) throws(KeychainError) -> Credential,
    putting put: (Credential, VaultItem?, inout VaultWriter) throws(KeychainError) -> Void
  ) throws(KeychainError) -> VaultSession.Attempt<MergedCredential> {
    let old = try OldItem(identity, in: self)
    if let old, let again: VaultSession.Attempt<MergedCredential> = try old.again(self) {
      return again
    }
    // That a tier which is locked lacks the item is T0's word, which is not enough to add only.
    if mode == .addOnly, old == nil, !keys.hasAll { return .again(.unlockedNow) }
    var new = try change(old?.credential)
    let requirement = new.accessibility.unlockRequirement
    guard sealing.keys.satisfies(requirement) else { return .again(requirement) }
    new.stamp(
      version: ItemEntry.newVersion(), created: old?.credential?.created, keepsDates: keepsDates)
    try put(new, old?.item, &self)
    return .done(MergedCredential(credential: new, replaced: old?.credential))
  }

  /// Stores a credential.
  mutating func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode, keepsDates: Bool
  ) throws(KeychainError) -> VaultSession.Attempt<MergedCredential> {
    let identity = credential.identity
    return try change(identity, mode: mode, keepsDates: keepsDates) { old throws(KeychainError) in
      try mode.check(old, identity: identity)
      return credential
    } putting: { new, old, writer throws(KeychainError) in
      try writer.put(new, secret: secret)
    }
  }

  /// Stores a secret, and keeps what the update does not change.
  mutating func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> VaultSession.Attempt<MergedCredential> {
    let canBeLocked = list.canBeLocked
    return try change(identity, mode: mode) { old throws(KeychainError) in
      try mode.check(old, identity: identity)
      if let old, update.accessibility == nil, canBeLocked { try old.requireNamedClass() }
      let merged = update.applied(to: old ?? Credential(identity))
      try merged.checkRules(secretCount: nil)
      return merged
    } putting: { new, old, writer throws(KeychainError) in
      try writer.put(new, secret: secret)
    }
  }

  /// Changes a credential, and keeps its secret.
  mutating func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> VaultSession.Attempt<MergedCredential> {
    try change(identity) { old throws(KeychainError) in
      guard let old else { throw .notFound(identity) }
      try old.checkVersion(expectedVersion)
      let changed = update.applied(to: old)
      try changed.checkRules(secretCount: nil)
      return changed
    } putting: { new, old, writer throws(KeychainError) in
      guard let old else { throw .notFound(identity) }
      let secret = try writer.sealing.secret(
        of: old, in: writer.contents, name: "\(identity)")
      try writer.put(new, secret: secret)
    }
  }

  /// Renames a credential to another identity.
  mutating func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> VaultSession.Attempt<Credential> {
    guard let old = try OldItem(identity, in: self) else { throw .notFound(identity) }
    if let again: VaultSession.Attempt<Credential> = try old.again(self) { return again }
    guard let credential = old.credential else { throw .notFound(identity) }
    try credential.checkVersion(expectedVersion)
    let id = try sealing.id(of: newIdentity)
    guard try item(id, name: "\(newIdentity)") == nil else { throw .alreadyExists(newIdentity) }
    var new = try credential.renamed(newIdentity)
    new.stamp(version: ItemEntry.newVersion(), created: credential.created)
    let secret = try sealing.secret(of: old.item, in: contents, name: "\(identity)")
    try remove(old.item.id)
    try put(new, secret: secret)
    return .done(new)
  }

  /// Removes a credential.
  ///
  /// - Returns: The credential; `nil` if there was none.
  mutating func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> VaultSession.Attempt<Credential?> {
    guard let old = try OldItem(identity, in: self) else { return .done(nil) }
    if let again: VaultSession.Attempt<Credential?> = try old.again(self) { return again }
    try old.credential?.checkVersion(expectedVersion)
    try remove(old.item.id)
    return .done(old.credential)
  }
}

extension MemberList {
  /// Whether somebody has T0 alone: a device key that doesn't open the rest.
  fileprivate var canBeLocked: Bool {
    vaultKind == .local && !members.contains { $0.kind == .device && $0.grant == .administers }
  }
}

extension Credential {
  /// - Throws: ``KeychainError/Code/refused`` if its class needs no unlock: whoever has the device key may have put it there to read what replaces it.
  fileprivate func requireNamedClass() throws(KeychainError) {
    guard accessibility.unlockRequirement == .nothing else { return }
    throw KeychainError(
      .refused,
      "\(identity) has the accessibility '\(accessibility)', so whoever has the device key may have "
        + "stored it: the accessibility of the new secret must be named",
      recovery: "name it with \(.nameAccessibility), or delete the item first")
  }
}

/// The stored item before a change.
private struct OldItem {
  let item: VaultItem

  /// The credential; `nil` if its keys are not at hand, so that the change must be tried again.
  let credential: Credential?

  init?(
    _ identity: CredentialIdentity, in writer: borrowing VaultWriter
  ) throws(KeychainError) {
    let sealing = writer.sealing
    let name = "\(identity)"
    guard let item = try writer.item(try sealing.id(of: identity), name: name) else { return nil }
    self.item = item
    // Keys do not open an item of another device, so nobody is asked for them.
    guard sealing.isOfOtherDevice(item.entry) || sealing.keys.satisfies(item.requirement) else {
      credential = nil
      return
    }
    credential = try sealing.credential(of: item, name: name)
  }

  /// Requests the keys of the item's class, if they are not at hand.
  func again<Result>(
    _ writer: borrowing VaultWriter
  ) throws(KeychainError) -> VaultSession.Attempt<Result>? {
    guard credential == nil else { return nil }
    return .again(item.requirement)
  }
}

extension VaultWriter {
  /// Seals a credential, in place of the item that has its identity.
  mutating func put(
    _ credential: Credential, secret: borrowing SecretBytes
  ) throws(KeychainError) {
    try requireAllowed(credential)
    try put(sealing.seal(credential, secret: secret))
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
