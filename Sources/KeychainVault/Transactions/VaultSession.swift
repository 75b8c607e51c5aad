internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

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

    /// Other keys are needed, because an item requires more.
    case again(Accessibility.UnlockRequirement)

    var isDone: Bool {
      if case .done = self { true } else { false }
    }
  }

  /// Reads with the keys for `requirement`.
  ///
  /// `rereads` is whether the head and the list of members are looked at again.
  func read<Result>(
    _ requirement: Accessibility.UnlockRequirement, rereads: Bool = false,
    _ body: (any VaultRows, ItemSealing, ProvenVault) throws(KeychainError) -> Attempt<Result>
  ) throws(KeychainError) -> Result {
    try repeating(requirement) {
      (keys: TierKeys, requirement: Requirement) throws(KeychainError) -> Outcome<Result> in
      let device = try unlocker.device.find()
      return try opened.storage.read(deadline) {
        (rows: any VaultRows) throws(KeychainError) -> Outcome<Result> in
        guard let proven = try proven(rows, ownedBy: keys, rereads: rereads) else {
          return .retry(requirement, try head(rows))
        }
        let sealing = ItemSealing(keys: keys, device: try device?.inVault(proven.head.id))
        switch try body(rows, sealing, proven) {
        case .done(let result): return .done(result, proven.record)
        case .again(let needed): return .retry(.reading(needed), try head(rows))
        }
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
    try repeating(requirement) {
      (keys: TierKeys, requirement: Requirement) throws(KeychainError) -> Outcome<Result> in
      var finished: FinishedWrite?
      let needed: DeviceSecret?
      if let device { needed = device } else { needed = try unlocker.device.find() }
      // If an attempt meets an item whose keys are missing, what it wrote before must be undone.
      let outcome = try opened.storage.write(deadline, keepingIf: \.isDone) {
        (rows: any WritableVaultRows) throws(KeychainError) -> Outcome<Result> in
        guard let proven = try proven(rows, ownedBy: keys, rereads: true) else {
          return .retry(requirement, try head(rows))
        }
        guard try keys.canSign(for: proven.members) else {
          return .retry(.signing, try head(rows))
        }
        let sealing = ItemSealing(
          keys: keys, device: try needed?.inVault(proven.head.id),
          batch: isBatch ? try SealingBatch() : nil)
        var writer = try VaultWriter(rows: rows, sealing: sealing, proven: proven)
        switch try body(&writer) {
        case .done(let result):
          let written = try writer.finish()
          finished = written
          return .done(result, written.record)
        case .again(let needed): return .retry(.reading(needed), try head(rows))
        }
      }
      // The next transaction begins with what this one has committed, unless another process comes
      // first: then the box in the file is another one.
      if let finished, let box = finished.stateBox {
        knownHead.proofs.note(finished.proven, with: box, keys)
      }
      return outcome
    }
  }

  /// Unlocks as far as `requirement` needs, or fails.
  func requireReadable(
    _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) {
    try read(requirement) { rows, sealing, proven throws(KeychainError) in
      .done(())
    }
  }

  /// Compares the vault with its seen record, and records this state.
  func recordSight(_ keys: TierKeys) throws(KeychainError) {
    let proven = try opened.storage.read(deadline) { rows throws(KeychainError) in
      let top = try rows.topRows()
      guard top.head.owns(keys) else {
        throw KeychainError(.busy, "the vault got new keys meanwhile", recovery: .tryAgain)
      }
      return try self.proven(rows, top, keys)
    }
    remember(proven.record)
  }

  /// What keys must be able to do.
  private enum Requirement {
    case reading(Accessibility.UnlockRequirement)

    /// Sign the state of a shared vault, and read everything.
    case signing
  }

  /// The outcome of one attempt.
  private enum Outcome<Result> {
    /// Done, with the state in which the vault was found or left.
    case done(Result, SeenRecord)

    /// Other keys are needed: the vault has a new root key, or more is required.
    case retry(Requirement, VaultHead)

    var isDone: Bool {
      if case .done = self { true } else { false }
    }
  }

  private func repeating<Result>(
    _ requirement: Accessibility.UnlockRequirement,
    _ attempt: (TierKeys, Requirement) throws(KeychainError) -> Outcome<Result>
  ) throws(KeychainError) -> Result {
    var greatest = requirement
    var requirement = Requirement.reading(requirement)
    var keys: TierKeys?
    if let head = knownHead.value { keys = try unlocker.keysAtHand(greatest, head) }
    for _ in 0..<8 {
      let current: TierKeys
      if let keys { current = keys } else { current = try freshKeys(greatest) }
      switch try attempt(current, requirement) {
      case .done(let result, let record):
        remember(record)
        return result
      case .retry(.signing, let head):
        knownHead.value = head
        requirement = .signing
        keys = try unlocker.signingKeys(head, path: opened.path, deadline)
      case .retry(.reading(let needed), let head):
        greatest = max(greatest, needed)
        requirement = .reading(greatest)
        knownHead.value = head
        keys = try self.keys(greatest, head)
      }
    }
    throw KeychainError(
      .busy, "the keys of the vault \(opened.path) change faster than they can be used",
      recovery: .tryAgain)
  }

  /// Reads the head within a transaction.
  private func head(_ rows: any VaultRows) throws(KeychainError) -> VaultHead {
    try VaultHead(rows, path: opened.path)
  }

  private func freshKeys(
    _ requirement: Accessibility.UnlockRequirement
  ) throws(KeychainError) -> TierKeys {
    try keys(requirement, readHead())
  }

  private func keys(
    _ requirement: Accessibility.UnlockRequirement, _ head: VaultHead
  ) throws(KeychainError) -> TierKeys {
    // Nobody is asked for what opens another vault than the one that was here.
    try requireKnown(head.row, head.successions)
    guard let postponed else {
      return try unlocker.keys(requirement, head, path: opened.path, deadline)
    }
    let atHand = try unlocker.keysAtHand(requirement, head)
    if let keys = atHand ?? postponed.keys(requirement, head) { return keys }
    throw postponed.postpone { [unlocker, opened] () throws(KeychainError) in
      try unlocker.keys(
        requirement, head, path: opened.path,
        unlocker.configuration.deadlineOfCall())
    }
  }

  /// Reads the current head, slots and list of members.
  func readHead() throws(KeychainError) -> VaultHead {
    let head = try opened.storage.read(deadline) { rows throws(KeychainError) in
      try self.head(rows)
    }
    knownHead.value = head
    return head
  }

  /// Raises the seen record to a state that was committed or read.
  ///
  /// A failure is only reported, as is a damaged record that was written again, because the
  /// operation itself has succeeded.
  func remember(_ record: SeenRecord, synced: Bool = false) {
    let known = opened.seen.record
    if let known, known.state.counter >= record.state.counter { return }
    do throws(KeychainError) {
      try opened.seenFile.raise(to: record, following: known, synced: synced)
      guard opened.seen == .unreadable else { return }
      report(
        "the seen record \(opened.seenFile.path) was damaged and has been written again; if an older copy "
          + "of the vault was put in place before, this was not noticed")
    } catch {
      report("a rollback of the vault could go unnoticed: \(error.message)")
    }
  }

  func report(_ message: String) {
    notice?(Notice(kind: .seenRecordUnavailable, message: message))
  }
}

extension TierKeys {
  /// Whether states that they make count for these members.
  ///
  /// Held keys may be of a slot that was removed since.
  fileprivate func canSign(for list: MemberList) throws(KeychainError) -> Bool {
    guard list.vaultKind == .shared else { return true }
    guard let signer, let member = list.member(signer.number), member.writesStates else {
      return false
    }
    return try signer.publicKey() == member.signingKey
  }
}
