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
      throw Self.notCarried(admin.head.slots.intact.filter { $0.kind != .recipient })
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
      let (own, recipients) = try slotsToCarry(change)
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
      for recipient in recipients {
        try change.writer.rows.removeSlot(recipient.number)
        try writer.put(try SlotSealing.reseal(recipient, root: newRoot.bytes))
      }
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

  /// This device's slot, and those of recipients, whose macs were checked; others would hold the old
  /// root key, and their secrets are not here.
  private func slotsToCarry(
    _ change: borrowing SlotChange
  ) throws(KeychainError) -> (own: SlotRow, recipients: [SlotRow]) {
    let number = try admin.session.unlocker.device.slot(admin.head)?.number
    var rest = try change.slots()
    let recipients = rest.filter { $0.kind == .recipient }
    rest.removeAll { $0.kind == .recipient }
    let own = rest.first { $0.number == number }
    rest.removeAll { $0.number == number }
    guard rest.isEmpty else { throw Self.notCarried(rest) }
    guard let own else {
      throw .slotsChanged
    }
    return (own, recipients)
  }

  private static func notCarried(_ slots: [SlotRow]) -> KeychainError {
    let names = slots.map { "\($0.number) (\($0.kind))" }.joined(separator: ", ")
    return KeychainError(
      .refused,
      "the vault gets a new root key, and the slots \(names) cannot be carried over",
      recovery: "remove them with `prefs keychain slots remove`, and add them again afterwards; "
        + "for a recovery code, `prefs keychain recovery create` makes a new one")
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
