internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// What removing a slot changes if all other slots stay.
struct SlotRemoval {
  let slot: SlotRow
  private let remaining: RemainingSlots

  init(_ number: UInt32, _ change: borrowing SlotChange) throws(KeychainError) {
    let slots = try change.slots()
    guard let slot = slots.first(where: { $0.number == number }) else {
      throw .noSlot(number)
    }
    self.slot = slot
    var others: [SlotRow] = []
    for other in slots where other.number != number {
      if try other.isMade(byHolderOf: change.root.bytes) { others.append(other) }
    }
    remaining = RemainingSlots(slots: others)
  }

  /// Returns the items that are deleted with the last passphrase.
  func itemsToDelete(_ change: borrowing SlotChange) throws(KeychainError) -> PassphraseItems {
    guard slot.kind == .passphrase, !remaining.hasPassphrase else { return PassphraseItems() }
    return try PassphraseItems(of: change, includingOtherDevices: true)
  }

  /// Deletes the items that need the removed slot, if the caller agreed.
  func deleteItems(
    _ isAgreed: Bool, _ change: inout SlotChange
  ) throws(KeychainError) -> [Credential] {
    let items = try itemsToDelete(change)
    try items.requireAgreement(isAgreed, else: lastPassphrase)
    for row in items.rows { try change.writer.remove(row) }
    return items.credentials
  }

  /// Lets this device's slot open everything if no daily key is left.
  ///
  /// - Returns: Whether the device slot opens more than before.
  func promoteDevice(
    _ input: borrowing SlotInput?, _ ownSlot: UInt32?, _ change: inout SlotChange
  ) throws(KeychainError) -> Bool {
    guard let own = try remaining.deviceToPromote(ownSlot, orElse: Self.another) else {
      return false
    }
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

  private static let another: KeychainError.Recovery =
    "add another way first with \(.addSlot(nil))"

  private func lastPassphrase(_ names: String) -> KeychainError {
    KeychainError(
      .refused, "items need a passphrase, and this is the last one: \(names)",
      recovery:
        "change their accessibility first, or delete them with it: "
        + "\(.removeSlot(number: slot.number, deletingItems: true, withNewKeys: false))")
  }
}
