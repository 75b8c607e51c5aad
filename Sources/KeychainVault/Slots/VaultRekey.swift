internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// Gives a vault a new root key, and seals everything again in one transaction.
///
/// If it fails or the process ends, the old state remains. To resume, run it again.
struct VaultRekey {
  /// A slot that is added under the new keys.
  final class NewSlot {
    let input: SlotInput
    let name: String

    init(_ input: consuming SlotInput, name: String) {
      self.input = input
      self.name = name
    }
  }

  let admin: VaultAdministration
  private let progress: RekeyProgress

  /// The lowest epoch and serial number that the vault may have afterwards.
  private let floor: (epoch: UInt64, serial: UInt64)

  init(
    admin: VaultAdministration, above floor: (epoch: UInt64, serial: UInt64) = (0, 0),
    progress: ((VaultProgress) -> Void)? = nil
  ) {
    self.admin = admin
    self.floor = floor
    self.progress = RekeyProgress(report: progress)
  }

  /// What a rekey did.
  struct Outcome {
    let decision: RekeyDecision
    let check: VaultCheck
    let added: SlotSealing.Sealed?
  }

  /// Writes the new state.
  ///
  /// `decide` sees the old state, of which no row is changed yet.
  func run(
    adding new: NewSlot? = nil,
    _ decide: (borrowing SlotChange) throws(KeychainError) -> RekeyDecision
  ) throws(KeychainError) -> Outcome {
    let session = admin.session
    let (outcome, record) = try admin.transaction { change throws(KeychainError) in
      let done = try write(change, decide(change), adding: new)
      try admin.opener.pin(done.outcome.check)
      // Both administration keys are valid until the commit is known to have succeeded.
      var both = change.proven.record
      if done.record.administration != both.administration {
        both.nextAdministration = done.record.administration
      }
      try session.opened.seenFile.replace(by: both)
      return done
    }
    session.remember(record, synced: true)
    finish(outcome)
    return outcome
  }

  /// Forgets the old keys, after the new state was committed and recorded.
  func finish(_ outcome: Outcome) {
    let session = admin.session
    session.unlocker.lock([admin.head.row.id], all: true)
    session.knownHead.value = nil
    unpinOldCheck(outcome.check)
    compact()
  }

  // MARK: - Rows

  /// Verifies the vault, and replaces the old state with the new state.
  func write(
    _ change: borrowing SlotChange, _ decision: RekeyDecision, adding new: NewSlot? = nil
  ) throws(KeychainError) -> (outcome: Outcome, record: SeenRecord) {
    // The work takes time, and the commit may then have to wait for readers.
    try admin.session.deadline.excluding { () throws(KeychainError) in
      // All items are opened here in any case, and sealed again.
      try change.requireIntact(opening: admin.keys, progress: progress.verified)
      return try replace(change, decision, adding: new)
    }
  }

  private func replace(
    _ change: borrowing SlotChange, _ decision: RekeyDecision, adding new: NewSlot?
  ) throws(KeychainError) -> (outcome: Outcome, record: SeenRecord) {
    let rows = change.writer.rows
    let epoch = try VaultEpoch(
      after: admin.head.row, key: decision.reason == nil ? admin.key : nil, above: floor.epoch,
      signer: admin.keys.signer)
    let added = try new.map { new throws(KeychainError) in
      try epoch.seal(new.input, number: change.list.nextNumber, name: new.name)
    }
    let slots =
      try decision.carried.map { carried throws(KeychainError) in
        try epoch.reseal(carried.slot.slot, of: carried.slot.member, grant: carried.grant)
      } + (added.map { [$0] } ?? [])
    let successions = try successions(change, decision, epoch)
    let members = try epoch.members(
      slots.map(\.member), after: change.list, above: floor.serial, successions: successions)
    try rows.overwriteDeleted()
    let items = try items(change, decision)
    for number in change.slots.map(\.number) + decision.unlisted { try rows.removeSlot(number) }
    var writer = try VaultWriter(
      beginning: rows, ItemSealing(keys: epoch.keys, device: change.writer.sealing.device),
      head: epoch.head, list: members.list, row: members.row,
      continuing: (change.proven, admin.keys))
    for slot in slots { try rows.put(slot.slot) }
    if let last = successions.last, last.epoch == epoch.head.epoch { try rows.put(last) }
    for (index, item) in items.enumerated() {
      try move(item, change.writer.sealing, &writer)
      progress.sealed(index + 1, of: items.count)
    }
    let record = try writer.finish().record
    return (
      Outcome(decision: decision, check: try epoch.head.check(), added: added), record
    )
  }

  private func successions(
    _ change: borrowing SlotChange, _ decision: RekeyDecision, _ epoch: VaultEpoch
  ) throws(KeychainError) -> [SuccessionRow] {
    let old = try change.writer.rows.successions()
    guard let reason = decision.reason else { return old }
    let succession = try Succession(
      id: epoch.head.id, epoch: epoch.head.epoch, from: admin.key, to: epoch.administration,
      after: change.list, reason: reason, recovery: decision.recoverySigner(admin))
    return old + [succession.row]
  }

  /// An item by its row without the secret; its group, or `nil` if the item is deleted.
  private typealias Item = (row: ItemRow, group: String?)

  private func items(
    _ change: borrowing SlotChange, _ decision: RekeyDecision
  ) throws(KeychainError) -> [Item] {
    let rows = change.writer.rows
    let sealing = change.writer.sealing
    let deleted = decision.itemsToDelete.ids
    var groups = AccessGroupNames(rows: rows, sealing: sealing)
    var items: [Item] = []
    var dropped = 0
    try rows.forEachItem { id, item throws(KeychainError) in
      guard let item else { throw .damagedItem(ItemRow.name(of: id)) }
      guard sealing.isOfOtherDevice(item) else {
        items.append((item, deleted.contains(id) ? nil : try groups.name(of: item)))
        return
      }
      dropped += 1
      guard dropped <= decision.plan.otherDeviceItemCount else {
        throw .otherDevice(ItemRow.name(of: id))
      }
      items.append((item, nil))
    }
    return items
  }

  private func move(
    _ item: Item, _ old: ItemSealing, _ writer: inout VaultWriter
  ) throws(KeychainError) {
    let name = ItemRow.name(of: item.row.id)
    guard let group = item.group else { return try writer.rows.removeItem(item.row.id, tokens: []) }
    guard let row = try writer.rows.item(item.row.id) else { throw .damagedItem(name) }
    let credential = try old.credential(in: row, group: group, name: name)
    let secret = try old.secret(in: row, group: group, name: name)
    try writer.rows.removeItem(row.id, tokens: [])
    // The version stays: it shows callers whether the item changed, and its keys are new in any
    // case.
    try writer.noteGroup(group, credential.accessibility)
    let id = try writer.sealing.id(of: credential.identity)
    try writer.put(writer.sealing.seal(credential, secret: secret, id: id), replacing: nil)
  }

  /// Must run last: until the commit is known to have succeeded, the identity must open either
  /// state.
  private func unpinOldCheck(_ new: VaultCheck) {
    do throws(KeychainError) {
      let old = try admin.head.row.check()
      if old != new { try admin.opener.pin(new, dropping: old) }
    } catch {
      admin.session.notice?(
        Notice(
          kind: .oldContentLeft,
          message: "the vault has its new keys, and the identity file still opens copies under the "
            + "old ones: \(error.message)"))
    }
  }

  /// Removes from the file what is left of rows under the old key.
  ///
  /// Pages that rows have left are not overwritten. With the old root key, one could read in them
  /// what was stored after one's copy of the vault was made.
  private func compact() {
    let session = admin.session
    do throws(KeychainError) {
      try session.opened.storage.compact(session.deadline)
    } catch {
      session.notice?(
        Notice(
          kind: .oldContentLeft,
          message: "the vault has its new keys, and its file may still hold remains of deleted "
            + "items under the old ones, until the next new keys: \(error.message)"))
    }
  }
}

/// Reports two passes over the items as one progress.
struct RekeyProgress {
  let report: ((VaultProgress) -> Void)?

  func verified(_ progress: VaultProgress) {
    report?(VaultProgress(completed: progress.completed / 2, total: progress.total))
  }

  func sealed(_ count: Int, of total: Int) {
    guard count.isMultiple(of: 100) || count == total else { return }
    report?(VaultProgress(completed: (total + count) / 2, total: total))
  }
}
