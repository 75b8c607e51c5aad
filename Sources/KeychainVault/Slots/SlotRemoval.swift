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
    others = slots.filter { $0.number != number }
  }

  /// Items that need a passphrase, and go with the last one.
  struct DoomedItems {
    var credentials: [Credential] = []
    var rows: [(row: ItemRow, tokens: [Data])] = []
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
    guard isAgreed || doomed.rows.isEmpty else {
      let names = doomed.credentials.map { "\($0.identity)" }.joined(separator: "; ")
      throw KeychainError(
        .refused, "items need a passphrase, and this is the last one: \(names)",
        recovery:
          "change their accessibility first, or delete them with it: `prefs keychain slots remove --delete-items`"
      )
    }
    for row in doomed.rows { try change.writer.remove(row) }
    return doomed.credentials
  }

  /// Lets this device's slot open everything if nothing is left that is at hand day by day, as in a
  /// vault that never had a passphrase.
  ///
  /// - Returns: Whether that changed what the device's slot opens.
  func promoteDevice(
    _ input: borrowing SlotInput?, _ ownSlot: UInt32?, _ change: inout SlotChange
  ) throws(KeychainError) -> Bool {
    guard !others.contains(where: \.isDailyKey) else { return false }
    guard let own = others.first(where: { $0.number == ownSlot }) else {
      // Whether another device still has its secret cannot be told.
      guard others.contains(where: { $0.kind == .recoveryCode }) else { throw Self.nothingLeft }
      return false
    }
    guard own.grant != .root else { return false }
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
