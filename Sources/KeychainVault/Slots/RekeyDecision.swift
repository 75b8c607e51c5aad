internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// Decides within a transaction which slots a new root key keeps.
///
/// What the device slot opens and which items are deleted follows from the kept slots, because more
/// than the removed slot may go.
struct RekeyDecision {
  /// How a slot is sealed again.
  enum Carrying {
    case by(RekeySecrets.Kept)
    case asDevice
    case asRecipient
  }

  /// A slot that is removed in the same transaction.
  struct Removal {
    let number: UInt32
    let deletesItems: Bool
  }

  private(set) var plan = RekeyPlan()
  private(set) var carried: [(slot: SlotRow, how: Carrying)] = []

  /// The items that are deleted with the last passphrase.
  private(set) var itemsToDelete = PassphraseItems()

  private let own: SlotRow?

  init(
    _ change: borrowing SlotChange, _ admin: VaultAdministration, _ secrets: RekeySecrets,
    removing removal: Removal? = nil
  ) throws(KeychainError) {
    own = try admin.session.unlocker.device.slot(admin.head)
    if let removal { try remove(removal.number, change) }
    for slot in try change.slots() where slot.number != removal?.number {
      try decide(slot, secrets, isTrusted: slot.isMade(byHolderOf: change.root.bytes))
    }
    // A slot that was replaced meanwhile is not the one that was presented or agreed to.
    guard carried.count(where: \.how.isDecided) == secrets.kept.count + secrets.recipients.count
    else { throw .slotsChanged }
    let remaining = RemainingSlots(slots: carried.map(\.slot))
    plan.promotesDevice = try remaining.deviceToPromote(own?.number, orElse: Self.keepOne) != nil
    plan.kept = carried.map(described)
    try countItems(change)
    if !remaining.hasPassphrase {
      try planDeletion(removal, try PassphraseItems(of: change, includingOtherDevices: false))
    }
  }

  private static let keepOne: KeychainError.Recovery =
    "keep a slot with \(.keepSlot(nil)), or unlock with what is kept, such as with "
    + "\(.giveKey(.identity)); or add another way first with \(.addSlot(nil))"

  private mutating func remove(
    _ number: UInt32, _ change: borrowing SlotChange
  ) throws(KeychainError) {
    guard let slot = try change.slots().first(where: { $0.number == number }) else {
      throw .noSlot(number)
    }
    plan.removed = slot.described(isThisDevice: slot == own)
  }

  private mutating func decide(
    _ slot: SlotRow, _ secrets: RekeySecrets, isTrusted: Bool
  ) throws(KeychainError) {
    if isTrusted, let how = carrying(slot, secrets) { return carried.append((slot, how)) }
    plan.dropped.append(slot.described(isThisDevice: slot == own))
    if !isTrusted { plan.forged.insert(slot.number) }
  }

  private func carrying(_ slot: SlotRow, _ secrets: RekeySecrets) -> Carrying? {
    if let kept = secrets.kept[slot.number] { return kept.slot == slot ? .by(kept) : nil }
    if secrets.recipients.contains(slot) { return .asRecipient }
    return slot == own ? .asDevice : nil
  }

  /// What a slot opens under the new root key.
  private func grant(of slot: SlotRow) -> SlotGrant {
    slot == own && plan.promotesDevice ? .root : slot.grant
  }

  private func described(_ slot: SlotRow, _ how: Carrying) -> VaultSlot {
    slot.described(isThisDevice: slot == own, grant: grant(of: slot))
  }

  /// Seals the slots again.
  func slots(under rekey: VaultRekey) throws(KeychainError) -> [SlotRow] {
    var slots: [SlotRow] = []
    for (slot, how) in carried {
      switch how {
      case .by(let kept): slots.append(try rekey.seal(kept.input, number: slot.number))
      case .asDevice: slots.append(try rekey.carry(slot, grant: grant(of: slot)))
      case .asRecipient: slots.append(try rekey.carry(slot, grant: .root))
      }
    }
    return slots
  }

  private mutating func countItems(_ change: borrowing SlotChange) throws(KeychainError) {
    let sealing = change.writer.sealing
    try change.writer.rows.forEachItem { _, item throws(KeychainError) in
      plan.itemCount += 1
      // Damaged items are found before anything is sealed again.
      if let item, sealing.isOfOtherDevice(item) { plan.otherDeviceItemCount += 1 }
    }
  }

  private mutating func planDeletion(
    _ removal: Removal?, _ items: PassphraseItems
  ) throws(KeychainError) {
    try items.requireAgreement(removal?.deletesItems ?? false) { names in
      KeychainError(
        .refused, "no passphrase would be kept, and items need one: \(names)",
        recovery: "keep one with \(.keepSlot(.passphrase)), or delete the items: "
          + "\(.removeSlot(number: removal?.number, deletingItems: true, withNewKeys: true))")
    }
    itemsToDelete = items
    plan.deletedItems = Set(items.credentials.map(\.identity))
  }
}

extension RekeyDecision.Carrying {
  /// Whether it is kept because its secret was presented, or because a person agreed to the
  /// recipient.
  fileprivate var isDecided: Bool { if case .asDevice = self { false } else { true } }
}
