internal import FoundationEssentials
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
package import PrephirencesSystem

extension Vault {
  /// Stores a credential, creating the vault if there is none; see the protocol.
  @discardableResult
  public func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    let request = try StoreRequest(credential, secretCount: secret.count, mode: mode)
    return try set(request, secret: secret).credential
  }

  package func set(
    _ request: StoreRequest, secret: borrowing SecretBytes
  ) throws(KeychainError) -> MergedCredential {
    try write(try sessionForFirstWrite(), request.accessibility) {
      transaction throws(KeychainError) in try transaction.set(request, secret: secret)
    }
  }

  /// Stores a secret, and keeps the other fields of its credential; see the protocol.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential {
    let request = try StoreRequest(
      update, into: identity, secretCount: secret.count, mode: mode)
    return try set(request, secret: secret)
  }

  /// Changes a credential; see the protocol.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    guard let session = try session() else { throw .notFound(identity) }
    return try write(session, update.accessibility) { transaction throws(KeychainError) in
      try transaction.update(identity, with: update, expectedVersion: expectedVersion)
    }
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
    return try write(session) { transaction throws(KeychainError) in
      try transaction.rename(identity, to: newIdentity, expectedVersion: expectedVersion)
    }
  }

  /// Removes a credential; see the protocol.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    guard let session = try session() else { return false }
    // Looked up first, so that removing a missing item writes nothing.
    guard try credential(for: identity) != nil else { return false }
    // Another process may have removed it in the meantime.
    return try write(session) { transaction throws(KeychainError) in
      try transaction.remove(identity, expectedVersion: expectedVersion)
    }
  }

  /// Makes several changes in one step: all of them or none, also after a crash.
  ///
  /// ```swift
  /// let vault = Vault()
  /// try vault.withTransaction { transaction in
  ///   for name in ["api", "upload"] {
  ///     try transaction.set(
  ///       Credential(.genericPassword(service: "mytool", account: name)),
  ///       secret: SecretBytes.random(count: 32))
  ///   }
  ///   try transaction.remove(.genericPassword(service: "mytool", account: "guest"))
  /// }
  /// ```
  ///
  /// They are durable when this returns, and wait for the disk once, however many they are. If the
  /// closure throws, nothing is changed. Other programs and handles see all changes or none, and
  /// observers are notified of each one afterwards.
  ///
  /// Nobody is asked while the transaction runs, because others wait for it. If a call needs keys
  /// that are not at hand, the transaction is undone, the vault is unlocked as for a single call,
  /// and **the closure runs again from its beginning**. So it should change nothing but the vault
  /// and its own variables, and return its results. Name what it needs by `unlocking` to unlock
  /// first, so that it runs once.
  ///
  /// Keep it short. Other writers wait, and fail with ``KeychainError/Code/busy`` at their
  /// deadline; the time in the closure does not count for this handle's own. Within the closure,
  /// use the transaction only: a write by any handle of the same vault fails with
  /// ``KeychainError/Code/refused``, and a read finds what was there before. A write on another
  /// thread waits until its deadline.
  ///
  /// The vault is created if there is none, even if the closure throws.
  ///
  /// - Parameters:
  ///   - requirement: What is unlocked before the closure runs.
  ///   - body: Reads and changes credentials.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or ``KeychainError`` as for single calls. Then nothing was
  ///   changed.
  @discardableResult
  public func withTransaction<Result>(
    unlocking requirement: Accessibility.UnlockRequirement = .nothing,
    _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result { try withTransaction(unlocking: requirement, among: { _ in true }, body) }

  func withTransaction<Result>(
    unlocking requirement: Accessibility.UnlockRequirement,
    among isAllowed: @escaping (CredentialIdentity) -> Bool,
    _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result {
    try transaction(try sessionForFirstWrite(), requirement, among: isAllowed, body)
  }
}

/// A store that may be able to make several changes in one step.
package protocol TransactionalStore: CredentialStore {
  func inOneStep<Result>(
    _ scope: TransactionScope, _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result?
}

extension CredentialStore {
  /// Makes several changes in one step; see ``Vault/withTransaction(unlocking:_:)``.
  ///
  /// If the store can't, like a desktop keyring, it returns `nil` without calling `body`.
  package func inOneStep<Result>(
    _ scope: TransactionScope, _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result? {
    try (self as? any TransactionalStore)?.inOneStep(scope, body)
  }
}

/// The credentials that a transaction may change.
package struct TransactionScope {
  /// A credential of the service or server whose credentials are changed.
  package let identity: CredentialIdentity

  /// The accessibility of added credentials; `nil` if none are added, and no store is chosen for
  /// them.
  package let accessibility: Accessibility?

  /// The unlock state needed before the transaction.
  package let requirement: Accessibility.UnlockRequirement

  /// Whether a credential may be used.
  package let isAllowed: (CredentialIdentity) -> Bool

  package init(
    serviceOf identity: CredentialIdentity, adding accessibility: Accessibility? = nil,
    unlocking requirement: Accessibility.UnlockRequirement = .nothing,
    among isAllowed: @escaping (CredentialIdentity) -> Bool = { _ in true }
  ) {
    self.identity = identity
    self.accessibility = accessibility
    self.requirement = requirement
    self.isAllowed = isAllowed
  }
}

extension Vault: TransactionalStore {
  package func inOneStep<Result>(
    _ scope: TransactionScope, _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result? {
    try withTransaction(unlocking: scope.requirement, among: scope.isAllowed, body)
  }
}

// MARK: - Transactions

extension Vault {
  /// Makes one change in a transaction of its own.
  private func write<Result>(
    _ session: VaultSession, _ accessibility: Accessibility? = nil,
    _ body: (inout VaultTransaction) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    do {
      return try transaction(
        session, accessibility?.unlockRequirement ?? .nothing, among: { _ in true }, body)
    } catch {
      throw error as? KeychainError
        ?? KeychainError(.internalFailure, "a change failed in an unexpected way")
    }
  }

  private func transaction<Result>(
    _ session: VaultSession, _ requirement: Accessibility.UnlockRequirement,
    among isAllowed: @escaping (CredentialIdentity) -> Bool,
    _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result {
    var log = TransactionLog()
    let result: Result
    do throws(KeychainError) {
      result = try session.write(requirement) { writer throws(KeychainError) in
        try Self.run(&writer, &log, among: isAllowed, session, body)
      }
    } catch { throw log.thrown ?? error }
    if log.usesUnlockedItems { prolong(session) }
    for change in log.changes { observers.notify(change) }
    return result
  }

  private static func run<Result>(
    _ writer: inout VaultWriter, _ log: inout TransactionLog,
    among isAllowed: @escaping (CredentialIdentity) -> Bool, _ session: VaultSession,
    _ body: (inout VaultTransaction) throws -> Result
  ) throws(KeychainError) -> VaultSession.Attempt<Result> {
    var transaction = VaultTransaction(writer, among: isAllowed)
    var result: Result?
    var thrown: (any Error)?
    do {
      result = try session.deadline.excluding {
        try RunningTransaction.running(session.path) { try body(&transaction) }
      }
    } catch { thrown = error }
    log = transaction.log
    writer = transaction.writer
    if let need = log.need { return .needs(need) }
    log.thrown = thrown
    if let failure = log.failure { throw failure }
    guard let result else {
      throw KeychainError(.cancelled, "the closure of the transaction failed")
    }
    return .done(result)
  }

  /// Keeps the vault unlocked longer, because an item was used that needs it unlocked.
  func prolong(_ session: VaultSession) { unlocker.touch(session.head) }

  /// Begins an operation that creates the vault if there is none.
  func sessionForFirstWrite() throws(KeychainError) -> VaultSession {
    if let session = try session() { return session }
    if let quiet = quietHandle, hasUnlockSource {
      throw quiet.error("the vault must be created first") { [self] () throws(KeychainError) in
        try createForFirstWrite()
      }
    }
    try createForFirstWrite()
    return try existingSession()
  }

  /// Writes the vault's file again, without replaced and deleted secrets.
  ///
  /// It needs the keys of all items.
  ///
  /// - Parameter ids: IDs of items to drop, as a verification prints them; a unique prefix is
  ///   enough. The items may be damaged.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/notFound`` or
  ///   ``KeychainError/Code/ambiguous`` for an id. The vault is unchanged, unless the code is
  ///   ``KeychainError/Code/outcomeUnknown``.
  public func compact(dropping ids: [String] = []) throws(KeychainError) {
    try existingSession().write(.unlockedNow) { writer throws(KeychainError) in
      for id in ids { try writer.remove(id: id) }
      writer.makesBase = true
      return .done(())
    }
  }
}

extension VaultWriter {
  fileprivate mutating func remove(id digits: String) throws(KeychainError) {
    var found: Set<ItemID> = []
    try contents.forEachPage(keys) { walked throws(KeychainError) in
      let ids = (walked.items + walked.shadowed).map(\.id)
      found.formUnion(ids.filter { $0.data.hexadecimal.hasPrefix(digits.lowercased()) })
    }
    guard let id = found.first, !digits.isEmpty else {
      throw KeychainError(
        .notFound, "the vault has no item \(digits)", recovery: "see the items with \(.verify)")
    }
    guard found.count == 1 else {
      throw KeychainError(
        .ambiguous, "\(found.count) items have an id that begins with \(digits)",
        recovery: "give more of its digits")
    }
    try remove(id)
  }
}

extension Vault: BuiltInStore {
  /// Items that stay on this machine are sealed under its device secret.
  package var bindsToDevice: Bool { true }

  package var environment: EnvironmentVariables { configuration.environment }

  package func makeReadable(
    _ query: CredentialQuery, _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) { try ensureReadable(requirement) }

  package func checkStoring(
    _ identity: CredentialIdentity, _ accessibility: Accessibility, mode: StoreMode
  ) throws(KeychainError) { try ensureReadable(accessibility.unlockRequirement) }
}
