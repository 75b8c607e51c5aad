internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Accepts the vault as it is now, after it was restored from a backup on purpose.
  ///
  /// Makes the trees and the state again from the rows, and corrects the seen record to match the
  /// vault. The counter continues from the greater of the two, or from the smaller one if they differ
  /// by more than is possible.
  ///
  /// If the list of members is older than the one that was seen, slots that were removed since may be
  /// in it. The vault then gets new keys in the same transaction. The slot that opens it and this
  /// device's slot stay, and others for which `confirmSlot` returns `true`.
  ///
  /// - Parameters:
  ///   - confirm: Receives the differences, and the slots of the list of members. Return `false` to
  ///     change nothing.
  ///   - confirmSlot: Receives another slot, if the vault gets new keys, and returns whether it still
  ///     opens the vault. Without this closure, none does.
  /// - Returns: `false` if there was nothing to accept; `confirm` is not called then.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/cancelled`` if `confirm` returns
  ///   `false`, ``KeychainError/Code/busy`` if the vault changed meanwhile,
  ///   ``KeychainError/Code/locked`` or ``KeychainError/Code/incorrectSecret`` if the vault cannot be
  ///   opened as far as is needed, ``KeychainError/Code/refused`` if what opens it does not
  ///   administer it and must, or ``KeychainError/Code/damaged`` if its list of members is damaged.
  @discardableResult
  public func acceptRestored(
    confirm: (RestoredDifferences) throws(KeychainError) -> Bool,
    confirmSlot: (VaultSlot) throws(KeychainError) -> Bool = { (_) throws(KeychainError) in false }
  ) throws(KeychainError) -> Bool {
    let session = try existingSession()
    let head = try session.readHead()
    let keys = try unlocker.keys(.nothing, head, path: session.opened.path, session.deadline)
    let found = try session.opened.storage.read(session.deadline) { rows throws(KeychainError) in
      try RestoredVault(rows, keys, session)
    }
    guard found.differences.exist else {
      // Writes a damaged record again, and reports it.
      try session.recordSight(keys)
      return false
    }
    let isConfirmed = try session.deadline.excluding { () throws(KeychainError) in
      try confirm(found.differences)
    }
    guard isConfirmed else {
      throw KeychainError(.cancelled, "the restored vault was not accepted")
    }
    if let record = try found.successor() {
      // Nothing was lost, so the record alone changes: a member that may not write accepts it, too.
      if try !unlocker.isPinned(to: head.row.check()) {
        _ = try unlocker.administrator(head, path: head.path, session.deadline)
      }
      try session.opened.seenFile.replace(by: record, lettingGo: session.opened.seen.record)
    } else if found.differences.needsAdministrator {
      try acceptAsAdministrator(found, session, head, confirmSlot)
    } else {
      let signing = found.list.vaultKind == .shared && keys.signer == nil
      let keys = signing ? try unlocker.signingKeys(head, path: head.path, session.deadline) : keys
      let record = try session.opened.storage.write(session.deadline) {
        rows throws(KeychainError) in try found.accept(rows, keys, session)
      }
      try session.opened.seenFile.replace(by: record, lettingGo: session.opened.seen.record)
    }
    if found.differences.isOtherVault { unlocker.forgetCachedKeys(of: session.opened.seen.record) }
    return true
  }

  private func acceptAsAdministrator(
    _ found: RestoredVault, _ session: VaultSession, _ head: VaultHead,
    _ confirmSlot: (VaultSlot) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    let seen = session.opened.seen.record
    let opener = try unlocker.administrator(head, path: head.path, session.deadline)
    let admin = try VaultAdministration(
      session: session.ignoringSeen, head: head, opener: opener)
    guard found.differences.makesNewKeys else {
      let record = try session.opened.storage.write(session.deadline) {
        rows throws(KeychainError) in try found.accept(rows, admin.keys, session)
      }
      return try session.opened.seenFile.replace(by: record, lettingGo: seen)
    }
    let request = RekeyDecision.Request(
      removed: try slotsToRemove(found, admin, confirmSlot), newAdministrationKey: true)
    let device = try unlocker.device.find()?.inVault(head.row.id)
    let rekey = VaultRekey(
      admin: admin, above: (seen?.state.epoch ?? 0, seen?.state.serial ?? 0))
    let (outcome, record) = try session.opened.storage.write(session.deadline) {
      rows throws(KeychainError) in
      _ = try found.accept(rows, admin.keys, session)
      let change = try admin.change(of: admin.session.proven(rows, admin.keys), rows, device)
      let done = try rekey.write(change, RekeyDecision(change, request))
      try admin.opener.pin(done.outcome.check)
      return done
    }
    // Until then the record shows that newer lists were seen, whatever happens to this process.
    try session.opened.seenFile.replace(by: record, lettingGo: seen)
    rekey.finish(outcome)
  }

  private func slotsToRemove(
    _ found: RestoredVault, _ admin: VaultAdministration,
    _ confirmSlot: (VaultSlot) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> Set<UInt32> {
    var removed: Set<UInt32> = []
    for slot in found.differences.slots
    where slot.number != admin.opener.opened.slot.number && slot.isThisDevice != true {
      let isKept = try admin.session.deadline.excluding { () throws(KeychainError) in
        try confirmSlot(slot)
      }
      if !isKept { removed.insert(slot.number) }
    }
    return removed
  }
}

/// A vault that was restored, as one transaction found it.
struct RestoredVault: Sendable {
  let differences: RestoredDifferences
  let head: VaultHead
  let list: MemberList

  /// The state in the file; `nil` if it is damaged.
  let chained: ChainedState?

  init(
    _ rows: any VaultRows, _ keys: TierKeys, _ session: VaultSession
  ) throws(KeychainError) {
    head = try VaultHead(rows, path: session.opened.path)
    guard head.row.owns(keys) else {
      throw KeychainError(.busy, "the vault got new keys meanwhile", recovery: .tryAgain)
    }
    try head.row.requireMacs(of: keys, path: head.path)
    list = try head.list(keys.open)
    let device = try session.unlocker.device.find()?.inVault(head.row.id)
    let sealing = ItemSealing(keys: keys.openTierOnly, device: device)
    chained = try Self.state(rows, keys, head, list)
    var problems: [String] = []
    if let chained {
      let proven = ProvenVault(head: head.row, members: list, chained: chained)
      var verification = VaultVerification(rows: rows, sealing: sealing, proven: proven)
      problems = try verification.run().report.problems
    } else {
      problems = ["the vault's state is damaged"]
    }
    differences = try RestoredDifferences(
      head, list, chained, items: ItemDifferences(rows, sealing), problems,
      isRefused: Self.isRefused(rows, keys, session),
      own: session.unlocker.device.slot(head)?.number, seen: session.opened.seen)
  }

  private static func state(
    _ rows: any VaultRows, _ keys: TierKeys, _ head: VaultHead, _ list: MemberList
  ) throws(KeychainError) -> ChainedState? {
    do throws(KeychainError) {
      let chained = try ChainedState.open(rows.stateBox(), under: keys.open.bytes)
      try chained.requireMatch(head.row, list)
      return chained
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  private static func isRefused(
    _ rows: any VaultRows, _ keys: TierKeys, _ session: VaultSession
  ) throws(KeychainError) -> Bool {
    do throws(KeychainError) {
      _ = try session.proven(rows, keys)
      return false
    } catch {
      guard error.code == .damaged || error.code == .rolledBack else { throw error }
      return true
    }
  }

  /// Returns the record of a vault that only has a new administration key, in a newer epoch; `nil`
  /// if anything else differs.
  func successor() throws(KeychainError) -> SeenRecord? {
    guard let chained, differences.isAdministrationKeyChanged, differences.isConsistent,
      !differences.isForged, differences.fileEpoch > differences.seenEpoch ?? .max,
      differences.fileSerial > differences.seenSerial ?? .max,
      differences.fileCounter >= differences.seenCounter ?? .max
    else { return nil }
    return SeenRecord(list, SeenState(chained))
  }

  /// Makes the state that matches the rows, if they are still as they were shown.
  ///
  /// - Returns: What the seen record must say.
  func accept(
    _ rows: any WritableVaultRows, _ keys: TierKeys, _ session: VaultSession
  ) throws(KeychainError) -> SeenRecord {
    let now = try RestoredVault(rows, keys, session)
    guard now.differences == differences, now.chained == chained, now.list == list else {
      throw KeychainError(.busy, "the vault changed meanwhile", recovery: .tryAgain)
    }
    let device = try session.unlocker.device.find()?.inVault(head.row.id)
    let counter = try StateCounter.accepting(
      file: differences.fileCounter, seen: differences.seenCounter)
    for number in differences.unlistedSlots { try rows.removeSlot(number) }
    let writer = try VaultWriter(
      accepting: rows, ItemSealing(keys: keys, device: device), head: head.row, list: list,
      counter: counter, after: chained)
    return try writer.finish().record
  }
}

extension RestoredDifferences {
  fileprivate init(
    _ head: VaultHead, _ list: MemberList, _ chained: ChainedState?, items: ItemDifferences,
    _ problems: [String], isRefused: Bool, own: UInt32?, seen: SeenRecordFile.Content
  ) throws(KeychainError) {
    let isOther = seen.record.map { $0.id != head.row.id } ?? false
    let record = isOther ? nil : seen.record
    let state = chained.map(SeenState.init)
    let relation = state.flatMap { record?.relation(of: $0) }
    let listed = list.members.compactMap { member in
      head.slots.intact.first { $0.number == member.number }?.described(
        isThisDevice: member.number == own, member: member)
    }
    let isTooFar = state.flatMap { record?.isTooFar(from: $0) } ?? false
    let isForgedAtFirstSight =
      seen.record == nil && state?.counter ?? 0 > StateCounter.greatestAtFirstSight
    self.init(
      fileCounter: state?.counter ?? record?.state.counter ?? 0,
      seenCounter: record?.state.counter, fileEpoch: head.row.epoch,
      seenEpoch: record?.state.epoch, fileSerial: list.serial, seenSerial: record?.state.serial,
      isOtherVault: isOther,
      isAdministrationKeyChanged: try record.map { record throws(KeychainError) in
        try !record.leads(to: head)
      } ?? false,
      isOtherList: try record.map { record throws(KeychainError) in
        try record.state.listHash != list.hash()
      } ?? false,
      isFork: relation == .forked,
      isForged: isTooFar || relation == .tooFarAhead || isForgedAtFirstSight,
      isSeenRecordDamaged: seen == .unreadable, isStateDamaged: chained == nil,
      isRefused: isRefused,
      expectedItemCount: Int(clamping: chained?.state.items.count ?? 0), itemCount: items.count,
      missingItems: items.missing, unlistedItems: items.unlisted, changedItems: items.changed,
      otherDeviceItemCount: items.ofOtherDevices, slots: listed,
      damagedSlots: head.slots.damaged, unlistedSlots: list.unlisted(in: head.slots),
      problems: problems, isConsistent: problems.isEmpty)
  }
}

extension VaultSession {
  /// The session of an operation that a person accepts, whatever was seen before.
  fileprivate var ignoringSeen: VaultSession {
    var opened = opened
    opened.seen = .none
    return VaultSession(
      opened: opened, unlocker: unlocker, knownHead: knownHead, deadline: deadline, notice: notice,
      postponed: postponed)
  }
}
