public import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Makes several changes in one step: all of them or none, also after a crash.
  ///
  /// ```swift
  /// let vault = Vault()
  /// try vault.withTransaction { transaction in
  ///   for name in ["api", "upload"] {
  ///     try transaction.store(
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
  /// Keep it short. Other writers wait, and fail with ``KeychainError/Code/busy`` at their deadline;
  /// the time in the closure does not count for this handle's own. Within the closure, use the
  /// transaction only: a write by any handle of the same vault fails with
  /// ``KeychainError/Code/refused``, and a read finds what was there before. A write on another thread
  /// waits until its deadline.
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
  ) throws -> Result {
    try withTransaction(unlocking: requirement, among: { _ in true }, body)
  }

  /// Makes several changes of some credentials in one step.
  @discardableResult
  package func withTransaction<Result>(
    unlocking requirement: Accessibility.UnlockRequirement,
    among isAllowed: @escaping (CredentialIdentity) -> Bool,
    _ body: (inout VaultTransaction) throws -> Result
  ) throws -> Result {
    let session = try sessionForFirstWrite()
    var device: DeviceSecret?
    while true {
      var log = TransactionLog()
      do throws(KeychainError) {
        let result = try session.write(requirement, device: device) {
          writer throws(KeychainError) -> Result in
          try Self.run(&writer, &log, among: isAllowed, session, body)
        }
        if log.usesUnlockedItems { prolong(session) }
        for change in log.changes { observers.notify(change) }
        return result
      } catch {
        if let accessibility = log.neededDevice, device == nil {
          device = try deviceSecret(for: accessibility, session)
          continue
        }
        throw log.thrown ?? error
      }
    }
  }

  private static func run<Result>(
    _ writer: inout VaultWriter, _ log: inout TransactionLog,
    among isAllowed: @escaping (CredentialIdentity) -> Bool, _ session: VaultSession,
    _ body: (inout VaultTransaction) throws -> Result
  ) throws(KeychainError) -> Result {
    var transaction = VaultTransaction(writer, among: isAllowed)
    var result: Result?
    var thrown: (any Error)?
    do {
      result = try session.deadline.excluding {
        try RunningTransaction.running(session.path) { try body(&transaction) }
      }
    } catch {
      thrown = error
    }
    log = transaction.log
    writer = transaction.takeWriter()
    // The closure runs again, whatever it made of the failure.
    guard writer.needed == nil else { throw .transactionBeginsAgain }
    if log.neededDevice == nil { log.thrown = thrown }
    if let failure = log.failure { throw failure }
    guard let result else {
      throw KeychainError(.cancelled, "the closure of the transaction failed")
    }
    return result
  }
}
