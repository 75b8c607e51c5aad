public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat

/// Several reads and changes of a vault in one step; see ``Vault/withTransaction(unlocking:_:)``.
///
/// Its calls see what the transaction has changed so far. Nobody else does before it ends.
///
/// A call that fails with ``KeychainError/Code/notFound``, ``KeychainError/Code/alreadyExists``,
/// ``KeychainError/Code/versionConflict`` or ``KeychainError/Code/invalidArgument`` has changed
/// nothing, and the transaction can go on. After any other failure of a change it is undone, even if
/// the closure catches the error.
public struct VaultTransaction: ~Copyable {
  var writer: VaultWriter
  let log: TransactionLog
  private let isAllowed: (CredentialIdentity) -> Bool

  init(
    _ writer: consuming VaultWriter, _ log: TransactionLog,
    among isAllowed: @escaping (CredentialIdentity) -> Bool
  ) {
    self.writer = writer
    self.log = log
    self.isAllowed = isAllowed
  }

  /// Ends the transaction for the closure.
  consuming func takeWriter() -> VaultWriter { writer }

  /// Stores a credential; see ``CredentialStore/store(_:secret:mode:)``.
  ///
  /// - Parameters:
  ///   - credential: The credential.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The credential as it will be stored.
  /// - Throws: ``KeychainError`` as that method.
  @discardableResult
  public mutating func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode = .addOrReplace
  ) throws(KeychainError) -> Credential {
    try store(credential, secret: secret, mode: mode, keepsDates: false)
  }

  package mutating func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode, keepsDates: Bool
  ) throws(KeychainError) -> Credential {
    let identity = credential.identity
    try checkRules(credential, secretCount: secret.count)
    return try change(identity) { writer throws(KeychainError) in
      try writer.store(credential, secret: secret, mode: mode, keepsDates: keepsDates)
    }.credential
  }

  /// Stores a secret, and keeps the attributes of its credential unless the update changes them; see
  /// ``CredentialStore/merge(_:secret:into:mode:)``.
  ///
  /// - Parameters:
  ///   - update: The changes; everything else stays.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes.
  ///   - identity: The identity of the credential.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The credential as it will be stored, and the one that it replaces.
  /// - Throws: ``KeychainError`` as that method.
  @discardableResult
  public mutating func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode = .addOrReplace
  ) throws(KeychainError) -> MergedCredential {
    try checkRules(update.applied(to: Credential(identity)), secretCount: secret.count)
    return try change(identity) { writer throws(KeychainError) in
      try writer.merge(update, secret: secret, into: identity, mode: mode)
    }
  }

  /// Changes a credential without its secret; see
  /// ``CredentialStore/update(_:with:expectedVersion:)``.
  ///
  /// - Parameters:
  ///   - identity: The identity of the credential.
  ///   - update: The changes.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The credential as it will be stored.
  /// - Throws: ``KeychainError`` as that method.
  @discardableResult
  public mutating func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64? = nil
  ) throws(KeychainError) -> Credential {
    try requireAllowed(identity)
    if let accessibility = update.accessibility { try requireDevice(for: accessibility) }
    return try change(identity) { writer throws(KeychainError) in
      try writer.update(identity, with: update, expectedVersion: expectedVersion)
    }.credential
  }

  /// Renames a credential; see ``CredentialStore/rename(_:to:expectedVersion:)``.
  ///
  /// - Parameters:
  ///   - identity: The identity of the credential.
  ///   - newIdentity: The new identity.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The credential as it will be stored.
  /// - Throws: ``KeychainError`` as that method.
  @discardableResult
  public mutating func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity,
    expectedVersion: UInt64? = nil
  ) throws(KeychainError) -> Credential {
    try requireAllowed(identity)
    try requireAllowed(newIdentity)
    if identity == newIdentity {
      guard let credential = try credential(for: identity) else { throw .notFound(identity) }
      try credential.checkVersion(expectedVersion)
      return credential
    }
    let renamed = try step { writer throws(KeychainError) in
      try writer.rename(identity, to: newIdentity, expectedVersion: expectedVersion)
    }
    log.note(.renamed(identity, newIdentity), renamed.accessibility)
    return renamed
  }

  /// Removes a credential; see ``CredentialStore/remove(_:expectedVersion:)``.
  ///
  /// - Parameters:
  ///   - identity: The identity of the credential.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: `false` if there is no credential.
  /// - Throws: ``KeychainError`` as that method.
  @discardableResult
  public mutating func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64? = nil
  ) throws(KeychainError) -> Bool {
    try requireAllowed(identity)
    let removed = try step { writer throws(KeychainError) in
      try writer.remove(identity, expectedVersion: expectedVersion)
    }
    guard let removed else { return false }
    log.note(.changed(CredentialChange(identity, .removed)), removed.accessibility)
    return true
  }
}

// Steps.
extension VaultTransaction {
  private mutating func change(
    _ identity: CredentialIdentity,
    _ body: (inout VaultWriter) throws(KeychainError) -> VaultSession.Attempt<MergedCredential>
  ) throws(KeychainError) -> MergedCredential {
    let merged = try step(body)
    let kind: CredentialChange.Kind = merged.replaced == nil ? .added : .updated
    log.note(.changed(CredentialChange(identity, kind)), merged.credential.accessibility)
    return merged
  }

  /// Makes a change.
  ///
  /// If it fails half way, the transaction can only be undone.
  private mutating func step<Result>(
    _ body: (inout VaultWriter) throws(KeychainError) -> VaultSession.Attempt<Result>
  ) throws(KeychainError) -> Result {
    try log.requireWhole()
    let attempt: VaultSession.Attempt<Result>
    do throws(KeychainError) {
      attempt = try body(&writer)
    } catch {
      log.noteFailure(error)
      throw error
    }
    switch attempt {
    case .done(let result): return result
    case .again(let requirement): throw log.begin(again: requirement)
    }
  }

  private func checkRules(
    _ credential: Credential, secretCount: Int
  ) throws(KeychainError) {
    try requireAllowed(credential.identity)
    try credential.checkRules(secretCount: secretCount)
    try requireDevice(for: credential.accessibility)
  }

  private func requireDevice(for accessibility: Accessibility) throws(KeychainError) {
    guard accessibility.isThisDeviceOnly, writer.sealing.device == nil else { return }
    throw log.begin(withDeviceFor: accessibility)
  }

  func requireAllowed(_ identity: CredentialIdentity) throws(KeychainError) {
    guard isAllowed(identity) else {
      throw KeychainError(
        .refused, "\(identity) may be in another store than this transaction",
        recovery: "change it after the transaction")
    }
  }
}
