internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import Synchronization

/// Runs transactions on an opened vault with the keys they need.
///
/// Unlocking may take a person's time, so it never happens within a transaction. A transaction
/// therefore checks that its keys are still the vault's, and is repeated with new ones if not.
struct VaultSession: Sendable {
  let opened: VaultFile.Opened
  let unlocker: Unlocker
  let knownHead: KnownHead
  let deadline: Deadline
  let notice: (@Sendable (Notice) -> Void)?

  /// Gets what would have to be asked or hashed, where that must not be done now.
  var postponed: PostponedUnlocking?

  /// What a transaction of an operation came to.
  enum Attempt<Result> {
    case done(Result, counter: UInt64, checks: VaultChecks)

    /// Other keys are needed: the vault has a new root key, or an item asks for more.
    case again(Accessibility.UnlockRequirement, VaultHead)

    var isDone: Bool {
      if case .done = self { true } else { false }
    }
  }

  /// Reads with the keys for `requirement`.
  func read<Result>(
    _ requirement: Accessibility.UnlockRequirement,
    _ body: (any VaultRows, ItemSealing, StateRow) throws(KeychainError) -> Attempt<Result>
  ) throws(KeychainError) -> Result {
    try repeating(requirement) { (keys: TierKeys) throws(KeychainError) -> Attempt<Result> in
      let sealing = ItemSealing(keys: keys, device: try unlocker.device.find())
      return try opened.storage.read(deadline) {
        (rows: any VaultRows) throws(KeychainError) -> Attempt<Result> in
        if let stale = try staleHead(rows, keys, requirement, Result.self) { return stale }
        return try body(rows, sealing, try checkedState(rows, keys))
      }
    }
  }

  /// Writes with the keys for `requirement`; `body` changes the rows through the writer it gets.
  ///
  /// `device` is the device secret, where the change needs one that may just have been made.
  func write<Result>(
    _ requirement: Accessibility.UnlockRequirement, device: DeviceSecret? = nil,
    inBatch isBatch: Bool = false,
    _ body: (inout VaultWriter) throws(KeychainError) -> Attempt<Result>
  ) throws(KeychainError) -> Result {
    try repeating(requirement) { (keys: TierKeys) throws(KeychainError) -> Attempt<Result> in
      let needed: DeviceSecret?
      if let device { needed = device } else { needed = try unlocker.device.find() }
      // What an attempt wrote before it met an item whose keys are missing must not stay.
      return try opened.storage.write(deadline, keepingIf: \.isDone) {
        (rows: any WritableVaultRows) throws(KeychainError) -> Attempt<Result> in
        if let stale = try staleHead(rows, keys, requirement, Result.self) { return stale }
        let sealing = ItemSealing(
          keys: keys, device: needed, batch: isBatch ? try SealingBatch() : nil)
        var writer = try VaultWriter(
          rows: rows, sealing: sealing, state: try checkedState(rows, keys))
        let attempt = try body(&writer)
        if case .done = attempt { try writer.finish() }
        return attempt
      }
    }
  }

  /// Unlocks as far as `requirement` asks, or fails.
  func requireReadable(
    _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) {
    try read(requirement) { rows, sealing, state throws(KeychainError) in
      .done((), counter: state.counter, checks: sealing.keys.checks)
    }
  }

  private func repeating<Result>(
    _ requirement: Accessibility.UnlockRequirement,
    _ attempt: (TierKeys) throws(KeychainError) -> Attempt<Result>
  ) throws(KeychainError) -> Result {
    var requirement = requirement
    var keys: TierKeys?
    if let head = knownHead.value { keys = try unlocker.keysAtHand(requirement, head) }
    for _ in 0..<8 {
      let current: TierKeys
      if let keys { current = keys } else { current = try freshKeys(requirement) }
      switch try attempt(current) {
      case .done(let result, let counter, let checks):
        remember(counter, checks)
        return result
      case .again(let needed, let head):
        requirement = max(requirement, needed)
        knownHead.value = head
        keys = try self.keys(requirement, head)
      }
    }
    throw KeychainError(
      .busy, "the keys of the vault \(opened.path) change faster than they can be used",
      recovery: "try again")
  }

  private func freshKeys(
    _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) -> TierKeys {
    try keys(requirement, readHead())
  }

  private func keys(
    _ requirement: Accessibility.UnlockRequirement, _ head: VaultHead
  ) throws(KeychainError) -> TierKeys {
    guard let postponed else {
      return try unlocker.keys(requirement, head, path: opened.path, deadline)
    }
    let atHand = try unlocker.keysAtHand(requirement, head)
    if let keys = atHand ?? postponed.keys(requirement, head) { return keys }
    throw postponed.postpone { [unlocker, opened] () throws(KeychainError) in
      try unlocker.keys(
        requirement, head, path: opened.path,
        Deadline(after: unlocker.configuration.deadline))
    }
  }

  /// Reads the checks and slots as they are now.
  func readHead() throws(KeychainError) -> VaultHead {
    let head = try opened.storage.read(deadline) { rows throws(KeychainError) in
      try VaultHead(rows)
    }
    knownHead.value = head
    return head
  }

  private func staleHead<Result>(
    _ rows: any VaultRows, _ keys: TierKeys, _ requirement: Accessibility.UnlockRequirement,
    _ type: Result.Type
  ) throws(KeychainError) -> Attempt<Result>? {
    guard try rows.vaultRow().checks != keys.checks else { return nil }
    return .again(requirement, try VaultHead(rows))
  }

  /// Opens the state row, and compares it with what was seen before.
  func checkedState(
    _ rows: any VaultRows, _ keys: TierKeys
  ) throws(KeychainError) -> StateRow {
    let state = try StateRow.open(rows.stateBox(), under: keys.open.bytes)
    guard case .record(let record) = opened.seen else { return state }
    try checkIsKnown(keys.checks.open)
    guard state.counter >= record.counter else {
      throw KeychainError(
        .rolledBack,
        "the vault \(opened.path) was rolled back: it is at change \(state.counter), and was at "
          + "\(record.counter) before",
        recovery:
          "put the newer file back, or accept this one with `prefs keychain accept-restored`")
    }
    return state
  }

  /// Refuses the vault of another root key than was seen before.
  func checkIsKnown(_ check: Data) throws(KeychainError) {
    guard case .record(let record) = opened.seen else { return }
    guard record.checks.contains(check) || isNowRecorded(check) else {
      throw .anotherVault(opened.path)
    }
  }

  /// Whether the vault got this key after the operation began, by another process.
  private func isNowRecorded(_ check: Data) -> Bool {
    guard case .record(let record) = opened.seenFile.read() else { return false }
    return record.checks.contains(check)
  }

  /// Raises the seen record to a state that was committed or read.
  private func remember(_ counter: UInt64, _ checks: VaultChecks) {
    if case .record(let record) = opened.seen, record.counter >= counter { return }
    do throws(KeychainError) {
      try opened.seenFile.raise(check: checks.open, to: counter)
    } catch {
      // A rollback will not be noticed; the operation itself has succeeded.
      notice?(
        Notice(
          kind: .seenRecordUnavailable,
          message: "a rollback of the vault could go unnoticed: \(error.message)"))
    }
  }
}

/// The checks and slots that were read last; a hint, checked in each transaction.
final class KnownHead: Sendable {
  private let head = Mutex<VaultHead?>(nil)

  var value: VaultHead? {
    get { head.withLock { $0 } }
    set { head.withLock { $0 = newValue } }
  }
}
