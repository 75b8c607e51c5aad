internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// Gives a vault a new root key, sealing everything anew in one transaction.
struct VaultRekey {
  private let admin: VaultAdministration
  private let device: DeviceSecret
  private let newRoot: SharedSecret
  private let newKeys: TierKeys

  init(admin: VaultAdministration) throws(KeychainError) {
    self.admin = admin
    guard let device = try admin.session.unlocker.device.find() else {
      throw KeychainError(.internalFailure, "a device slot was opened without a device secret")
    }
    self.device = device
    newRoot = SharedSecret(try RootKey.random())
    newKeys = try TierKeys(root: newRoot.bytes)
  }

  /// Adds the first passphrase or key file: the root key that the device secret knows is given up,
  /// and the device slot opens tier T0 only.
  func addFirstSecret(
    _ input: borrowing SlotInput
  ) throws(KeychainError) -> SlotRow {
    let deviceInput = try SlotInput.device(device)
    let session = admin.session
    let (slot, counter) = try admin.transaction { change throws(KeychainError) in
      let own = try requireOnlyOwnSlot(change)
      let number = try change.freeNumber(for: input.kind)
      try requireIntact(change)
      var writer = try begin(change)
      try moveItems(change, &writer)
      let deviceSlot = try SlotSealing.sealDevice(
        deviceInput, number: own.number, grant: .openTier, keys: newKeys, root: newRoot.bytes)
      let slot = try SlotSealing.seal(
        input, number: number, grant: .root, granted: newRoot.bytes, root: newRoot.bytes)
      try change.writer.rows.removeSlot(own.number)
      try writer.put(deviceSlot)
      try writer.put(slot)
      try writer.finish()
      // Both root keys are valid until the commit is known to have happened.
      try session.opened.seenFile.replace(
        by: SeenRecord(
          checks: [admin.keys.checks.open, newKeys.checks.open],
          counter: change.writer.counter - 1))
      return (slot, writer.counter)
    }
    session.unlocker.lock(admin.keys.checks, all: true)
    try? session.opened.seenFile.replace(
      by: SeenRecord(checks: [newKeys.checks.open], counter: counter))
    return slot
  }

  /// Other slots would hold the old root key's tiers, and their secrets are not here.
  private func requireOnlyOwnSlot(
    _ change: borrowing SlotChange
  ) throws(KeychainError) -> SlotRow {
    let slots = try change.slots()
    guard let own = try admin.session.unlocker.device.slot(admin.head),
      let current = slots.first(where: { $0.number == own.number })
    else { throw .slotsChanged }
    let others = slots.filter { $0.number != own.number }
    guard others.isEmpty else {
      throw KeychainError(
        .refused,
        "the vault gets a new root key, and slots \(others.map { "\($0.number)" }.joined(separator: ", ")) "
          + "cannot be carried over",
        recovery: "remove them first, and add them again afterwards")
    }
    return current
  }

  /// The state of the vault under the new key begins without rows, at the same counter.
  private func begin(_ change: borrowing SlotChange) throws(KeychainError) -> VaultWriter {
    var state = StateRow.empty
    state.counter = change.writer.counter - 1
    var writer = try VaultWriter(
      rows: change.writer.rows, sealing: ItemSealing(keys: newKeys, device: device), state: state)
    try writer.put(VaultRow(checks: newKeys.checks))
    return writer
  }

  private func moveItems(
    _ change: borrowing SlotChange, _ writer: inout VaultWriter
  ) throws(KeychainError) {
    let rows = change.writer.rows
    let old = change.writer.sealing
    var groups = AccessGroupNames(rows: rows, sealing: old)
    var ids: [(id: Data, group: String)] = []
    try rows.forEachItem { id, item throws(KeychainError) in
      guard let item else { throw .damagedItem(ItemRow.name(of: id)) }
      ids.append((id, try groups.name(of: item)))
    }
    try rows.removeAccessGroups()
    for (id, group) in ids {
      let name = ItemRow.name(of: id)
      guard let item = try rows.item(id) else { throw .damagedItem(name) }
      let credential = try old.credential(in: item, group: group, name: name)
      let secret = try old.secret(in: item, group: group, name: name)
      try rows.removeItem(id)
      // The version stays: it tells callers whether the item changed, and its keys are new anyway.
      try writer.put(credential, secret: secret, replacing: nil)
    }
  }

  /// Sealing anew would give a tampered vault a state row that verifies.
  private func requireIntact(_ change: borrowing SlotChange) throws(KeychainError) {
    let rows = change.writer.rows
    let sealing = change.writer.sealing
    let state = try StateRow.open(rows.stateBox(), under: sealing.keys.open.bytes)
    var verification = VaultVerification(rows: rows, sealing: sealing, state: state)
    guard let problem = try verification.run().report.problems.first else { return }
    throw KeychainError(
      .damaged, "the vault is not intact: \(problem)",
      recovery: "see all problems with `prefs keychain verify`, and restore a backup")
  }
}
