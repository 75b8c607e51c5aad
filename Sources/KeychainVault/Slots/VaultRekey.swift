internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

/// Gives a vault a new root key, and seals everything again in one transaction.
///
/// If it fails or the process ends, the old state remains. To resume, run it again.
struct VaultRekey {
  let admin: VaultAdministration
  let newRoot: SharedSecret
  private let newKeys: TierKeys
  private let device: DeviceSecret?
  private let progress: RekeyProgress

  init(
    admin: VaultAdministration, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) {
    self.admin = admin
    self.progress = RekeyProgress(report: progress)
    device = try admin.session.unlocker.device.find()
    newRoot = SharedSecret(try RootKey.random())
    newKeys = try TierKeys(root: newRoot.bytes)
  }

  /// The check of the vault under the new key.
  var newCheck: VaultCheck { VaultCheck(bytes: newKeys.checks.open) }

  /// The new state, as it is decided within the transaction.
  struct Decision<Result> {
    var slots: [SlotRow]
    var result: Result

    /// The number of items that may be lost because only other devices can open them.
    var otherDeviceItems = 0

    /// The ids of the items that are deleted.
    var deletedItems: Set<Data> = []
  }

  /// Writes the new state.
  ///
  /// `decide` sees the old state, of which no row is changed yet.
  func run<Result>(
    _ decide: (borrowing SlotChange) throws(KeychainError) -> Decision<Result>
  ) throws(KeychainError) -> Result {
    let session = admin.session
    let (result, state) = try admin.transaction(checkingSlots: false) {
      change throws(KeychainError) in
      let decision = try decide(change)
      let old = try SeenState(
        counter: change.writer.counter - 1, box: change.writer.rows.stateBox())
      // The work takes time, and the commit may then have to wait for readers.
      let state = try session.deadline.excluding { () throws(KeychainError) in
        // All items are opened here in any case, and sealed again.
        try change.requireIntact(opening: admin.keys, progress: progress.verified)
        return try moveAll(change, decision)
      }
      try admin.opener.pin(newCheck)
      // Both root keys are valid until the commit is known to have succeeded.
      try session.opened.seenFile.replace(
        by: SeenRecord(checks: [admin.keys.checks.open, newKeys.checks.open], state: old))
      return (decision.result, state)
    }
    session.unlocker.lock(admin.keys.checks.open, all: true)
    session.knownHead.value = nil
    session.remember(state, newKeys.checks.open, synced: true)
    unpinOldCheck()
    compact()
    return result
  }

  // MARK: - Slots

  /// Makes a slot with a secret that is at hand.
  func seal(_ input: borrowing SlotInput, number: UInt32) throws(KeychainError) -> SlotRow {
    try SlotSealing.seal(
      input, number: number, grant: .root, granted: newRoot.bytes, root: newRoot.bytes)
  }

  /// Seals again a slot that needs no secret of a person: this device's, or a recipient's, whose
  /// mac must have been checked.
  func carry(_ slot: SlotRow, grant: SlotGrant) throws(KeychainError) -> SlotRow {
    guard slot.kind == .device else {
      return try SlotSealing.reseal(slot, root: newRoot.bytes)
    }
    guard let device else {
      throw KeychainError(.internalFailure, "a device slot was opened without a device secret")
    }
    return try SlotSealing.sealDevice(
      try SlotInput.device(device), number: slot.number, grant: grant, keys: newKeys,
      root: newRoot.bytes)
  }

  // MARK: - Rows

  /// Replaces the old state with the new state.
  ///
  /// - Returns: The new state.
  private func moveAll<Result>(
    _ change: borrowing SlotChange, _ decision: Decision<Result>
  ) throws(KeychainError) -> SeenState {
    let rows = change.writer.rows
    let old = change.writer.sealing
    try rows.overwriteDeleted()
    let items = try items(change, decision)
    // The state of the vault under the new key starts without rows, at the same counter.
    var state = StateRow.empty
    state.counter = change.writer.counter - 1
    var writer = try VaultWriter(
      rows: rows, sealing: ItemSealing(keys: newKeys, device: device), state: state)
    try writer.put(VaultRow(checks: newKeys.checks))
    for slot in try change.slots() { try rows.removeSlot(slot.number) }
    for slot in decision.slots { try writer.put(slot) }
    try rows.removeAccessGroups()
    for (index, item) in items.enumerated() {
      try move(item, old, &writer)
      progress.sealed(index + 1, of: items.count)
    }
    return try writer.finish()
  }

  /// An item by its id; its group, or `nil` if the item is deleted.
  private typealias Item = (id: Data, group: String?)

  private func items<Result>(
    _ change: borrowing SlotChange, _ decision: Decision<Result>
  ) throws(KeychainError) -> [Item] {
    let rows = change.writer.rows
    let sealing = change.writer.sealing
    var groups = AccessGroupNames(rows: rows, sealing: sealing)
    var items: [Item] = []
    var dropped = 0
    try rows.forEachItem { id, item throws(KeychainError) in
      guard let item else { throw .damagedItem(ItemRow.name(of: id)) }
      guard sealing.isOfOtherDevice(item) else {
        let isDeleted = decision.deletedItems.contains(id)
        items.append((id, isDeleted ? nil : try groups.name(of: item)))
        return
      }
      dropped += 1
      guard dropped <= decision.otherDeviceItems else { throw .otherDevice(ItemRow.name(of: id)) }
      items.append((id, nil))
    }
    return items
  }

  private func move(
    _ item: Item, _ old: ItemSealing, _ writer: inout VaultWriter
  ) throws(KeychainError) {
    let name = ItemRow.name(of: item.id)
    guard let group = item.group else { return try writer.rows.removeItem(item.id) }
    guard let row = try writer.rows.item(item.id) else { throw .damagedItem(name) }
    let credential = try old.credential(in: row, group: group, name: name)
    let secret = try old.secret(in: row, group: group, name: name)
    try writer.rows.removeItem(item.id)
    // The version stays: it shows callers whether the item changed, and its keys are new in any
    // case.
    try writer.put(credential, secret: secret, replacing: nil)
  }

  /// Must run last: until the commit is known to have succeeded, the identity must open either
  /// state.
  private func unpinOldCheck() {
    do throws(KeychainError) {
      try admin.opener.pin(newCheck, dropping: VaultCheck(bytes: admin.keys.checks.open))
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
