internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles
internal import Synchronization

/// Runs transactions on an opened vault with the keys they need.
///
/// Unlocking may wait for a person, so it never happens within a transaction. A transaction
/// therefore checks that its keys are still the vault's, and is repeated with new keys if not.
struct VaultSession: Sendable {
  let opened: VaultFile.Opened
  let unlocker: Unlocker
  let knownHead: KnownHead
  let deadline: Deadline
  let notice: (@Sendable (Notice) -> Void)?

  /// Receives what would have to be asked or hashed, if that must not happen now.
  var postponed: PostponedUnlocking?

  /// The outcome of one transaction of an operation.
  enum Attempt<Result> {
    case done(Result)

    /// Other keys are needed: the vault has a new root key, or an item requires more.
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
    try repeating(requirement) { (keys: TierKeys) throws(KeychainError) -> Outcome<Result> in
      let sealing = ItemSealing(keys: keys, device: try unlocker.device.find())
      return try opened.storage.read(deadline) {
        (rows: any VaultRows) throws(KeychainError) -> Outcome<Result> in
        if let stale = try staleHead(rows, keys, requirement, Result.self) { return (stale, nil) }
        let (state, seen) = try checkedState(rows, keys)
        return (try body(rows, sealing, state), seen)
      }
    }
  }

  /// Writes with the keys for `requirement`.
  ///
  /// `body` changes the rows through its writer.
  ///
  /// `device` is the device secret, if the change needs one that may just have been created.
  func write<Result>(
    _ requirement: Accessibility.UnlockRequirement, device: DeviceSecret? = nil,
    inBatch isBatch: Bool = false,
    _ body: (inout VaultWriter) throws(KeychainError) -> Attempt<Result>
  ) throws(KeychainError) -> Result {
    try repeating(requirement) { (keys: TierKeys) throws(KeychainError) -> Outcome<Result> in
      let needed: DeviceSecret?
      if let device { needed = device } else { needed = try unlocker.device.find() }
      // If an attempt meets an item whose keys are missing, what it wrote before must be undone.
      return try opened.storage.write(deadline, keepingIf: \.attempt.isDone) {
        (rows: any WritableVaultRows) throws(KeychainError) -> Outcome<Result> in
        if let stale = try staleHead(rows, keys, requirement, Result.self) { return (stale, nil) }
        let sealing = ItemSealing(
          keys: keys, device: needed, batch: isBatch ? try SealingBatch() : nil)
        var writer = try VaultWriter(
          rows: rows, sealing: sealing, state: try checkedState(rows, keys).row)
        let attempt = try body(&writer)
        return (attempt, attempt.isDone ? try writer.finish() : nil)
      }
    }
  }

  /// Unlocks as far as `requirement` needs, or fails.
  func requireReadable(
    _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) {
    try read(requirement) { rows, sealing, state throws(KeychainError) in
      .done(())
    }
  }

  /// Compares the vault with its seen record, and records this state.
  func recordSight(_ keys: TierKeys) throws(KeychainError) {
    let state = try opened.storage.read(deadline) { rows throws(KeychainError) in
      guard try rows.vaultRow().checks == keys.checks else {
        throw KeychainError(.busy, "the vault got new keys meanwhile", recovery: .tryAgain)
      }
      return try checkedState(rows, keys).seen
    }
    remember(state, keys.checks.open)
  }

  /// An attempt with the state in which it found or left the vault.
  private typealias Outcome<Result> = (attempt: Attempt<Result>, state: SeenState?)

  private func repeating<Result>(
    _ requirement: Accessibility.UnlockRequirement,
    _ attempt: (TierKeys) throws(KeychainError) -> Outcome<Result>
  ) throws(KeychainError) -> Result {
    var requirement = requirement
    var keys: TierKeys?
    if let head = knownHead.value { keys = try unlocker.keysAtHand(requirement, head) }
    for _ in 0..<8 {
      let current: TierKeys
      if let keys { current = keys } else { current = try freshKeys(requirement) }
      let (attempt, state) = try attempt(current)
      switch attempt {
      case .done(let result):
        if let state { remember(state, current.checks.open) }
        return result
      case .again(let needed, let head):
        requirement = max(requirement, needed)
        knownHead.value = head
        keys = try self.keys(requirement, head)
      }
    }
    throw KeychainError(
      .busy, "the keys of the vault \(opened.path) change faster than they can be used",
      recovery: .tryAgain)
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

  /// Reads the current checks and slots.
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

  /// Opens the state row, and compares it with the seen record.
  func checkedState(
    _ rows: any VaultRows, _ keys: TierKeys
  ) throws(KeychainError) -> (row: StateRow, seen: SeenState) {
    let box = try rows.stateBox()
    let row = try StateRow.open(box, under: keys.open.bytes)
    let state = try SeenState(counter: row.counter, box: box)
    guard let record = opened.seen.record else { return (row, state) }
    try checkIsKnown(keys.checks.open)
    if let failure = record.failure(of: state, at: opened.path) { throw failure }
    return (row, state)
  }

  /// Rejects a vault whose root key is not the one that was seen before.
  func checkIsKnown(_ check: Data) throws(KeychainError) {
    guard let record = opened.seen.record else { return }
    guard record.checks.contains(check) || isNowRecorded(check) else {
      throw .anotherVault(opened.path)
    }
  }

  /// Whether another process gave the vault this key after the operation began.
  private func isNowRecorded(_ check: Data) -> Bool {
    opened.seenFile.read().record?.checks.contains(check) ?? false
  }

  /// Raises the seen record to a state that was committed or read.
  ///
  /// A failure is only reported, as is a damaged record that was written again, because the
  /// operation itself has succeeded.
  func remember(_ state: SeenState, _ check: Data, synced: Bool = false) {
    if let record = opened.seen.record, record.state.counter >= state.counter { return }
    do throws(KeychainError) {
      try opened.seenFile.raise(check: check, to: state, synced: synced)
      guard opened.seen == .unreadable else { return }
      report(
        "the seen record \(opened.seenFile.path) was damaged and has been written again; if an older copy "
          + "of the vault was put in place before, this was not noticed")
    } catch {
      report("a rollback of the vault could go unnoticed: \(error.message)")
    }
  }

  private func report(_ message: String) {
    notice?(Notice(kind: .seenRecordUnavailable, message: message))
  }
}

/// The checks and slots that were read last.
///
/// They are only a hint: each transaction checks them.
final class KnownHead: Sendable {
  private let head = Mutex<VaultHead?>(nil)

  var value: VaultHead? {
    get { head.withLock { $0 } }
    set { head.withLock { $0 = newValue } }
  }
}
