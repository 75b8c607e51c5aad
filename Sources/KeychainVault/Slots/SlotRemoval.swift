internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// What removing a slot brings with it.
struct SlotRemoval {
  let slot: SlotRow
  private let others: [SlotRow]

  init(_ number: UInt32, _ change: borrowing SlotChange) throws(KeychainError) {
    let slots = try change.slots()
    guard let slot = slots.first(where: { $0.number == number }) else {
      throw .noSlot(number)
    }
    self.slot = slot
    var others: [SlotRow] = []
    // What no holder of the root key made opens nothing; a new root key ends such slots.
    for other in slots where other.number != number {
      if try other.isMade(byHolderOf: change.root.bytes) { others.append(other) }
    }
    self.others = others
  }

  /// Items that need a passphrase, and go with the last one.
  struct DoomedItems {
    var credentials: [Credential] = []
    var rows: [(row: ItemRow, tokens: [Data])] = []

    var ids: Set<Data> { Set(rows.map(\.row.id)) }

    /// Fails if there are any, and nobody agreed to lose them.
    func requireAgreement(_ isAgreed: Bool) throws(KeychainError) {
      guard !isAgreed, !rows.isEmpty else { return }
      let names = credentials.map { "\($0.identity)" }.joined(separator: "; ")
      throw KeychainError(
        .refused, "items need a passphrase, and this is the last one: \(names)",
        recovery:
          "change their accessibility first, or delete them with it: `prefs keychain slots remove --delete-items`"
      )
    }
  }

  func doomedItems(_ change: borrowing SlotChange) throws(KeychainError) -> DoomedItems {
    var doomed = DoomedItems()
    guard slot.kind == .passphrase, !others.contains(where: { $0.kind == .passphrase }) else {
      return doomed
    }
    var ids: [Data] = []
    try change.writer.rows.forEachItem { id, item throws(KeychainError) in
      guard let item else { throw .damagedItem(ItemRow.name(of: id)) }
      if item.accessibility == .whenPasscodeSetThisDeviceOnly { ids.append(id) }
    }
    let sealing = change.writer.sealing
    var groups = AccessGroupNames(rows: change.writer.rows, sealing: sealing)
    for id in ids {
      let name = ItemRow.name(of: id)
      guard let found = try change.writer.item(id, name: name) else { throw .damagedItem(name) }
      guard !sealing.isOfOtherDevice(found.row) else { throw .otherDevice(name) }
      let group = try groups.name(of: found.row)
      doomed.credentials.append(try sealing.credential(in: found.row, group: group, name: name))
      doomed.rows.append(found)
    }
    return doomed
  }

  /// Deletes the items that go with the slot, if that was agreed to.
  func deleteItems(
    _ isAgreed: Bool, _ change: inout SlotChange
  ) throws(KeychainError) -> [Credential] {
    let doomed = try doomedItems(change)
    try doomed.requireAgreement(isAgreed)
    for row in doomed.rows { try change.writer.remove(row) }
    return doomed.credentials
  }

  /// The slot of this device, if it is to open everything: nothing is left that is at hand day by day, as
  /// in a vault that never had a passphrase.
  func deviceToPromote(_ ownSlot: UInt32?) throws(KeychainError) -> SlotRow? {
    guard !others.contains(where: \.isDailyKey) else { return nil }
    guard let own = others.first(where: { $0.number == ownSlot }) else {
      // Whether another device still has its secret cannot be told.
      guard others.contains(where: { $0.kind == .recoveryCode }) else { throw Self.nothingLeft }
      return nil
    }
    return own.grant == .root ? nil : own
  }

  /// Lets this device's slot open everything if nothing else is left.
  ///
  /// - Returns: Whether that changed what the device's slot opens.
  func promoteDevice(
    _ input: borrowing SlotInput?, _ ownSlot: UInt32?, _ change: inout SlotChange
  ) throws(KeychainError) -> Bool {
    guard let own = try deviceToPromote(ownSlot) else { return false }
    switch input {
    case .some(let input):
      let promoted = try SlotSealing.sealDevice(
        input, number: own.number, grant: .root, keys: change.keys, root: change.root.bytes)
      try change.writer.remove(own)
      try change.writer.put(promoted)
      return true
    case .none:
      throw KeychainError(.internalFailure, "the device slot has no device secret")
    }
  }

  private static var nothingLeft: KeychainError {
    KeychainError(
      .refused, "nothing else would open the vault",
      recovery: "add another way first with `prefs keychain slots add`")
  }
}
