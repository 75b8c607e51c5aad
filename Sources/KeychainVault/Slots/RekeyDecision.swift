internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// Decides which slots a new root key keeps, by what is true within a transaction.
struct RekeyDecision {
  /// How a slot is sealed anew.
  enum Carrying {
    case by(RekeySecrets.Kept)
    case asDevice
    case asRecipient
  }

  private(set) var plan = RekeyPlan()
  private(set) var carried: [(slot: SlotRow, how: Carrying)] = []

  init(
    _ change: borrowing SlotChange, _ admin: VaultAdministration, _ secrets: RekeySecrets
  ) throws(KeychainError) {
    let own = try admin.session.unlocker.device.slot(admin.head)
    for slot in try change.slots() {
      let isTrusted = try slot.isMade(byHolderOf: change.root.bytes)
      let described = slot.described(isThisDevice: slot == own)
      if let how = try Self.carrying(slot, own, secrets, isTrusted: isTrusted) {
        carried.append((slot, how))
        plan.kept.append(described)
      } else {
        plan.dropped.append(described)
        if !isTrusted { plan.forged.insert(slot.number) }
      }
    }
    // A slot that was replaced meanwhile is not what its secret was presented for.
    guard carried.filter(\.how.isBySecret).count == secrets.kept.count else { throw .slotsChanged }
    guard plan.kept.contains(where: { $0.grant == .root }) else { throw Self.nothingLeft }
    try countItems(change)
  }

  private static func carrying(
    _ slot: SlotRow, _ own: SlotRow?, _ secrets: RekeySecrets, isTrusted: Bool
  ) throws(KeychainError) -> Carrying? {
    guard isTrusted else { return nil }
    if let kept = secrets.kept[slot.number] { return kept.slot == slot ? .by(kept) : nil }
    if let recipient = slot.recipient { return recipient.isUsable ? .asRecipient : nil }
    return slot == own ? .asDevice : nil
  }

  /// Seals the slots anew.
  func slots(under rekey: VaultRekey) throws(KeychainError) -> [SlotRow] {
    var slots: [SlotRow] = []
    for (slot, how) in carried {
      switch how {
      case .by(let kept): slots.append(try rekey.seal(kept.input, number: slot.number))
      case .asDevice, .asRecipient: slots.append(try rekey.carry(slot, grant: slot.grant))
      }
    }
    return slots
  }

  private mutating func countItems(_ change: borrowing SlotChange) throws(KeychainError) {
    let sealing = change.writer.sealing
    var needPassphrase = 0
    try change.writer.rows.forEachItem { _, item throws(KeychainError) in
      plan.itemCount += 1
      // What is damaged is found before anything is sealed anew.
      guard let item else { return }
      if sealing.isOfOtherDevice(item) {
        plan.otherDeviceItemCount += 1
      } else if item.accessibility == .whenPasscodeSetThisDeviceOnly {
        needPassphrase += 1
      }
    }
    guard needPassphrase == 0 || plan.kept.contains(where: { $0.kind == .passphrase }) else {
      throw KeychainError(
        .refused, "no passphrase would be kept, and items need one: \(needPassphrase)",
        recovery: "give one with --keep-passphrase-file, or first let the items go, with "
          + "`prefs keychain slots remove --delete-items`")
    }
  }

  private static var nothingLeft: KeychainError {
    KeychainError(
      .refused, "nothing would be left that opens the vault",
      recovery: "unlock by a slot that is intact, or restore a backup")
  }
}

extension RekeyDecision.Carrying {
  fileprivate var isBySecret: Bool { if case .by = self { true } else { false } }
}
