internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

// Changes of credentials. Each either asks for other keys, before it has changed anything, or is done.
extension VaultWriter {
  /// Replaces or adds the credential of an identity.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - keepsDates: Whether to store the dates of the new credential.
  ///   - change: Returns the new credential for the stored one, or throws.
  ///   - put: Writes the new credential with its secret.
  /// - Returns: The credential as written, and the one that it replaced.
  /// - Throws: What the closures throw, or ``KeychainError`` from the vault.
  private mutating func change(
    _ identity: CredentialIdentity, keepsDates: Bool = false,
    _ change: (Credential?) throws(KeychainError) -> Credential,
    putting put: (Credential, ItemRow?, inout VaultWriter) throws(KeychainError) -> Void
  ) throws(KeychainError) -> VaultSession.Attempt<MergedCredential> {
    let old = try OldItem(identity, in: self)
    if let old, let again: VaultSession.Attempt<MergedCredential> = try old.again(self) {
      return again
    }
    var new = try change(old?.credential)
    let requirement = new.accessibility.unlockRequirement
    guard sealing.keys.satisfies(requirement) else { return .again(requirement) }
    new.stamp(
      version: try ItemVersion.random(), created: old?.credential?.created, keepsDates: keepsDates)
    try put(new, old?.row, &self)
    return .done(MergedCredential(credential: new, replaced: old?.credential))
  }

  /// Stores a credential.
  mutating func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode, keepsDates: Bool
  ) throws(KeychainError) -> VaultSession.Attempt<MergedCredential> {
    let identity = credential.identity
    return try change(identity, keepsDates: keepsDates) { old throws(KeychainError) in
      try mode.check(old, identity: identity)
      return credential
    } putting: { new, old, writer throws(KeychainError) in
      try writer.put(new, secret: secret, replacing: old)
    }
  }

  /// Stores a secret, and keeps what the update does not change.
  mutating func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> VaultSession.Attempt<MergedCredential> {
    try change(identity) { old throws(KeychainError) in
      try mode.check(old, identity: identity)
      let merged = update.applied(to: old ?? Credential(identity))
      try merged.checkRules(secretCount: nil)
      return merged
    } putting: { new, old, writer throws(KeychainError) in
      try writer.put(new, secret: secret, replacing: old)
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
        in: old, group: identity.accessGroup, name: "\(identity)")
      try writer.put(new, secret: secret, replacing: old)
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
    new.stamp(version: try ItemVersion.random(), created: credential.created)
    let secret = try sealing.secret(in: old.row, group: identity.accessGroup, name: "\(identity)")
    try remove(old.row)
    try put(new, secret: secret, replacing: nil)
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
    try remove(old.row)
    return .done(old.credential)
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
