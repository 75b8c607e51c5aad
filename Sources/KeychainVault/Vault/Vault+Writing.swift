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
    return try write(credential.identity, credential.accessibility, session) {
      writer throws(KeychainError) in
      try writer.store(credential, secret: secret, mode: mode, keepsDates: keepsDates)
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
    return try write(identity, update.accessibility, session) { writer throws(KeychainError) in
      try writer.merge(update, secret: secret, into: identity, mode: mode)
    }
  }

  /// Changes a credential; see the protocol.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    guard let session = try session() else { throw .notFound(identity) }
    return try write(identity, update.accessibility, session) { writer throws(KeychainError) in
      try writer.update(identity, with: update, expectedVersion: expectedVersion)
    }.credential
  }

  /// Replaces or adds the credential of an identity, in one transaction.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - accessibility: The new accessibility; `nil` if it depends on the stored credential.
  ///   - session: The session of the operation.
  ///   - body: Makes the change.
  /// - Returns: The credential as written, and the one that it replaced.
  /// - Throws: What the closure throws, or ``KeychainError`` from the vault.
  private func write(
    _ identity: CredentialIdentity, _ accessibility: Accessibility?, _ session: VaultSession,
    _ body: (inout VaultWriter) throws(KeychainError) -> MergedCredential
  ) throws(KeychainError) -> MergedCredential {
    let device = try accessibility.flatMap { accessibility throws(KeychainError) in
      try deviceSecret(for: accessibility, session)
    }
    let merged = try session.write(accessibility?.unlockRequirement ?? .nothing, device: device) {
      writer throws(KeychainError) in
      try body(&writer)
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
      try writer.rename(identity, to: newIdentity, expectedVersion: expectedVersion)
    }
    prolong(renamed.accessibility, session)
    observers.notify(CredentialChange(identity, .removed))
    observers.notify(CredentialChange(newIdentity, .added))
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
    let removed = try session.write(.nothing) { writer throws(KeychainError) in
      // Another process may have removed it meanwhile.
      try writer.remove(identity, expectedVersion: expectedVersion)
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
    if accessibility.unlockRequirement == .unlockedNow { prolong(session) }
  }

  /// Keeps the vault unlocked longer, because an item was used that needs it unlocked.
  func prolong(_ session: VaultSession) {
    unlocker.touch(session.head)
  }

  /// Returns the device secret for an item of this accessibility, and makes it if there is none;
  /// `nil` if the item is not bound to the device.
  func deviceSecret(
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
