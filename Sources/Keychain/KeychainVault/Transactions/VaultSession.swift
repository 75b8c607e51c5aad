internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// One operation on a vault: its file as it was found, and the keys, which it requests only as they
/// are needed.
struct VaultSession: Sendable {
  let file: VaultFile
  let opened: VaultFile.Opened
  let unlocker: Unlocker
  let deadline: Deadline
  let notice: (@Sendable (Notice) -> Void)?
  var quiet: QuietHandle?

  var path: String { opened.path }
  var head: VaultHead { opened.head }

  enum Attempt<Result> {
    case done(Result)
    case needs(Requirement)

    func then<Next>(
      _ next: (Result) throws(KeychainError) -> Attempt<Next>
    ) throws(KeychainError) -> Attempt<Next> {
      switch self {
      case .done(let result): try next(result)
      case .needs(let requirement): .needs(requirement)
      }
    }
  }

  /// The need of an attempt that has changed nothing, before it is repeated.
  enum Requirement: Hashable {
    case keys(Accessibility.UnlockRequirement)

    /// Keys that sign for a member.
    case signature

    /// A device secret, for an item that stays on this device.
    case deviceSecret
  }

  /// Calls `body` with the vault's verified contents, and again once more keys are available.
  func read<Result>(
    _ requirement: Accessibility.UnlockRequirement, anew: Bool = false,
    _ body: (VaultContents, ItemSealing) throws(KeychainError) -> Attempt<Result>
  ) throws(KeychainError) -> Result {
    try repeating(requirement) { session, keys throws(KeychainError) in
      try body(session.contents(keys, anew: anew), session.sealing(keys))
    }
  }

  /// Calls `body` under the vault's lock with a writer of its contents, and commits its changes.
  func write<Result>(
    _ requirement: Accessibility.UnlockRequirement,
    _ body: (inout VaultWriter) throws(KeychainError) -> Attempt<Result>
  ) throws(KeychainError) -> Result {
    try repeating(requirement) { session, keys throws(KeychainError) in
      try session.locked { session, lock throws(KeychainError) -> Attempt<Result> in
        guard session.head.owns(keys) else { return .needs(.keys(requirement)) }
        var vault = try LockedVault(session, lock, keys)
        guard try keys.canSign(for: vault.contents.list) else { return .needs(.signature) }
        var writer = VaultWriter(vault.contents, try session.sealing(keys))
        let attempt = try body(&writer)
        if case .done = attempt { try vault.commit(writer) }
        return attempt
      }
    }
  }

  /// Returns the file as it is now, with the same unlocker and deadline.
  func reopened() throws(KeychainError) -> VaultSession {
    guard let opened = try file.find() else { throw .movedAway(path) }
    return with(opened)
  }

  func with(_ opened: VaultFile.Opened) -> VaultSession {
    VaultSession(
      file: file, opened: opened, unlocker: unlocker, deadline: deadline, notice: notice,
      quiet: quiet)
  }

  func sealing(_ keys: TierKeys) throws(KeychainError) -> ItemSealing {
    ItemSealing(keys: keys, device: try unlocker.state.findSecret()?.inVault(head.id))
  }

  func requireReadable(_ requirement: Accessibility.UnlockRequirement) throws(KeychainError) {
    try read(requirement) { _, _ throws(KeychainError) in .done(()) }
  }

  func report(_ message: String) { notice?(Notice(kind: .seenRecordUnavailable, message: message)) }

  // MARK: - Keys

  /// Repeats an attempt until it is done, and meets its needs; a quiet call makes only one attempt.
  private func repeating<Result>(
    _ requirement: Accessibility.UnlockRequirement,
    _ attempt: (VaultSession, TierKeys) throws(KeychainError) -> Attempt<Result>
  ) throws(KeychainError) -> Result {
    var next = NextAttempt(self, requirement)
    while true {
      var need = Requirement.keys(requirement)
      if let keys = try next.keys() {
        switch try attempt(next.session, keys) {
        case .done(let result): return result
        case .needs(let needed): need = needed
        }
      }
      try next.meet(need)
    }
  }

  /// The file and the keys of an attempt; apart from ``repeating(_:_:)``, which is compiled for
  /// each of its closures.
  private struct NextAttempt {
    private(set) var session: VaultSession
    private var requirement: Accessibility.UnlockRequirement
    private var given: TierKeys?
    private var left = 8

    init(_ session: VaultSession, _ requirement: Accessibility.UnlockRequirement) {
      (self.session, self.requirement) = (session, requirement)
    }

    /// Returns the available keys for the file, if they are enough.
    func keys() throws(KeychainError) -> TierKeys? {
      // Keys that don't fit are a sign of another file.
      try session.requireKnownHead()
      let (head, held) = (session.head, session.quiet?.held)
      if let given = held?.keys(for: head) ?? given, head.owns(given), given.satisfies(requirement)
      {
        return given
      }
      return try session.unlocker.keysAtHand(requirement, head)
    }

    mutating func meet(_ need: Requirement) throws(KeychainError) {
      left -= 1
      guard left > 0 else {
        throw KeychainError(
          .busy, "the keys of the vault \(session.path) change faster than they can be used",
          recovery: .tryAgain)
      }
      if case .keys(let needed) = need { requirement = max(requirement, needed) }
      session = try session.reopened()
      guard session.quiet == nil else { throw session.quietError(need, requirement) }
      given = try session.meet(need, requirement) ?? given
      // A person may have thought for minutes.
      session = try session.reopened()
    }
  }

  /// Meets the need of an attempt, and returns the new keys.
  private func meet(
    _ need: Requirement, _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) -> TierKeys? {
    try requireKnownHead()
    switch need {
    case .keys: return try unlocker.keys(requirement, opened, deadline)
    case .signature: return try unlocker.signingKeys(opened, deadline)
    case .deviceSecret:
      // Only after the vault was unlocked: a new secret must not replace one that the vault
      // expects.
      _ = try unlocker.state.findOrCreateSecret()
      return nil
    }
  }

  private func quietError(
    _ need: Requirement, _ requirement: Accessibility.UnlockRequirement
  ) -> KeychainError {
    guard let quiet else { return .movedAway(path) }
    let meeting = VaultSession(
      file: file, opened: opened, unlocker: unlocker,
      deadline: unlocker.configuration.deadlineOfCall(), notice: notice)
    return quiet.error("the vault \(path) must be unlocked first") {
      () throws(KeychainError) in
      if let keys = try meeting.meet(need, requirement) { quiet.held.hold(keys) }
    }
  }

  /// Fails for a vault that is not the one seen here, before anything is asked or hashed for it.
  func requireKnownHead() throws(KeychainError) {
    guard let failure = try opened.seen.failure(of: head) else { return }
    // Another process may have changed both in between.
    let now = try opened.records.read()
    guard !now.records.isEmpty, try now.failure(of: head) == nil else { throw failure }
  }
}

extension TierKeys {
  fileprivate func canSign(for list: MemberList) throws(KeychainError) -> Bool {
    guard list.vaultKind == .shared else { return true }
    guard let signer, let member = list.member(signer.number), member.writes else { return false }
    return try signer.publicKey() == member.signingKey
  }
}

// MARK: - Reading and making durable

extension VaultSession {
  /// Returns the verified contents, which are durable up to the seen record; `anew` ignores known
  /// contents.
  func contents(_ keys: TierKeys, anew: Bool = false) throws(KeychainError) -> VaultContents {
    if !anew, let approved = file.approvedContents(opened, keys) { return approved }
    let (contents, relation): (VaultContents, SeenRelation)
    do throws(KeychainError) {
      contents = try file.contents(opened, keys, anew: anew)
      relation = try contents.relation(to: opened.seen, keys)
      if let failure = relation.failure { throw failure }
    } catch {
      // A running write may have looked like damage.
      guard error.code == .damaged || error.code == .rolledBack,
        let again = try contentsUnderLock(keys, anew: true)
      else { throw error }
      return again
    }
    for notice in relation.notices { report(notice) }
    guard relation.isAhead else {
      if remember(contents, keys), relation.notices.isEmpty { file.approve(opened, keys) }
      return contents
    }
    return try contentsUnderLock(keys, anew: false, orNotDurable: contents) ?? contents
  }

  /// Verifies under the lock, and makes the last commit durable; `nil` if the file has other keys
  /// now, or if this user cannot write it.
  private func contentsUnderLock(
    _ keys: TierKeys, anew: Bool, orNotDurable contents: VaultContents? = nil
  ) throws(KeychainError) -> VaultContents? {
    guard let lock = try readingLock() else {
      if let contents, opened.record == nil {
        try? write(SeenRecord(contents.list, hash: contents.list.hash(), proved: [nil, nil, nil]))
      }
      return nil
    }
    return try with(lock) { session, lock throws(KeychainError) in
      guard session.head.owns(keys) else { return nil }
      return try LockedVault(session, lock, keys, anew: anew, mustBeDurable: false).contents
    }
  }

  /// Returns the lock of a reader; `nil` if the reader cannot write.
  private func readingLock() throws(KeychainError) -> LockedLog? {
    do throws(KeychainError) {
      return try LockedLog.take(path, on: file.disk, until: deadline)
    } catch let error where error.code != .busy && error.code != .timedOut {
      // On a read-only medium, without permission, or mounted as a file that was replaced outside.
      return nil
    }
  }

  /// Calls `body` under the vault's lock, with the file that has the name now.
  func locked<Result>(
    _ body: (VaultSession, LockedLog) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try with(writingLock(), body)
  }

  private func writingLock() throws(KeychainError) -> LockedLog {
    guard !RunningTransaction.isHere(path) else {
      throw KeychainError(
        .refused, "the vault was used by a closure that it called within a transaction",
        recovery: "use it after the call")
    }
    guard let lock = try LockedLog.take(path, on: file.disk, until: deadline) else {
      throw .movedAway(path)
    }
    return lock
  }

  private func with<Result>(
    _ lock: LockedLog, _ body: (VaultSession, LockedLog) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    defer { lock.unlock() }
    return try body(reopened(lock), lock)
  }

  private func reopened(_ lock: LockedLog) throws(KeychainError) -> VaultSession {
    with(try file.read(path, opened.records, opened.records.read(), from: lock.file))
  }

  /// Raises the seen record to durable contents; `true` if it had them already.
  @discardableResult
  func remember(_ contents: VaultContents, _ keys: TierKeys) -> Bool {
    do throws(KeychainError) {
      let record = contents.record(keys)
      if opened.records.have(record, opened.seen) { return true }
      try write(record)
    } catch { report("a rollback of the vault could go unnoticed: \(error.message)") }
    return false
  }

  /// Replaces the seen records after a change of the vault that has happened, so it can only report
  /// a failure.
  func replaceRecords(by contents: VaultContents, _ keys: TierKeys, lettingGo isLetGo: Bool) {
    do throws(KeychainError) {
      try opened.records.replace(
        by: contents.record(keys), lettingGo: isLetGo ? opened.records.read() : nil)
    } catch {
      guard isLetGo else {
        return report("a rollback of the vault could go unnoticed: \(error.message)")
      }
      notice?(
        Notice(
          kind: .seenRecordUnavailable,
          message: "the vault was changed, and that it was accepted could not be recorded: "
            + error.message,
          recovery: "if it is still refused here, run \(.acceptRestored) again"))
    }
  }

  private func write(_ record: SeenRecord) throws(KeychainError) {
    // A write makes commits durable first, and may have written the record already.
    var wasUnreadable = opened.seen.isUnreadable
    if wasUnreadable { wasUnreadable = try opened.records.read().isUnreadable }
    try opened.records.raise(to: record, following: opened.seen)
    guard wasUnreadable else { return }
    report(
      "the seen record \(opened.records.path) was damaged and has been written again; if an older "
        + "copy of the vault was put in place before, this was not noticed")
  }
}

extension KeychainError {
  fileprivate static func movedAway(_ path: String) -> Self {
    Self(.busy, "the vault \(path) was moved away meanwhile", recovery: .tryAgain)
  }
}
