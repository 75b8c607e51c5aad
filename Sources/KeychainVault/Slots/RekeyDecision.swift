internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets

/// Decides which slots a new root key keeps, by what is true within a transaction.
struct RekeyDecision {
  /// How a slot is sealed anew.
  enum Carrying {
    case by(RekeySecrets.Kept)
    case asDevice(SlotGrant)
    case asRecipient
  }

  /// A slot that is removed in the same transaction.
  struct Removal {
    let number: UInt32
    let deletesItems: Bool
  }

  private(set) var plan = RekeyPlan()
  private(set) var carried: [(slot: SlotRow, how: Carrying)] = []

  /// The items that go with a removed slot.
  private(set) var doomed = SlotRemoval.DoomedItems()

  /// Whether the device's slot opens everything from now on, and did not before.
  private(set) var promotesDevice = false

  private let own: SlotRow?

  init(
    _ change: borrowing SlotChange, _ admin: VaultAdministration, _ secrets: RekeySecrets,
    removing removal: Removal? = nil
  ) throws(KeychainError) {
    own = try admin.session.unlocker.device.slot(admin.head)
    if let removal { try remove(removal, change) }
    for slot in try change.slots() where slot.number != removal?.number {
      try decide(slot, secrets, isTrusted: slot.isMade(byHolderOf: change.root.bytes))
    }
    // A slot that was replaced meanwhile is not what was presented or agreed to.
    guard carried.count(where: \.how.isDecided) == secrets.kept.count + secrets.recipients.count
    else { throw .slotsChanged }
    guard plan.kept.contains(where: { $0.grant == .root }) else { throw Self.nothingLeft }
    try countItems(change)
  }

  private mutating func remove(
    _ removal: Removal, _ change: borrowing SlotChange
  ) throws(KeychainError) {
    let found = try SlotRemoval(removal.number, change)
    doomed = try found.doomedItems(change)
    try doomed.requireAgreement(removal.deletesItems)
    promotesDevice = try found.deviceToPromote(own?.number) != nil
    plan.removed = found.slot.described(isThisDevice: found.slot == own)
    plan.deletedItems = Set(doomed.credentials.map(\.identity))
  }

  private mutating func decide(
    _ slot: SlotRow, _ secrets: RekeySecrets, isTrusted: Bool
  ) throws(KeychainError) {
    let described = slot.described(isThisDevice: slot == own)
    guard isTrusted, let how = carrying(slot, secrets) else {
      plan.dropped.append(described)
      if !isTrusted { plan.forged.insert(slot.number) }
      return
    }
    carried.append((slot, how))
    if case .asDevice(let grant) = how {
      plan.kept.append(slot.described(isThisDevice: true, grant: grant))
    } else {
      plan.kept.append(described)
    }
  }

  private func carrying(_ slot: SlotRow, _ secrets: RekeySecrets) -> Carrying? {
    if let kept = secrets.kept[slot.number] { return kept.slot == slot ? .by(kept) : nil }
    if secrets.recipients.contains(slot) { return .asRecipient }
    return slot == own ? .asDevice(promotesDevice ? .root : slot.grant) : nil
  }

  /// Seals the slots anew.
  func slots(under rekey: VaultRekey) throws(KeychainError) -> [SlotRow] {
    var slots: [SlotRow] = []
    for (slot, how) in carried {
      switch how {
      case .by(let kept): slots.append(try rekey.seal(kept.input, number: slot.number))
      case .asDevice(let grant): slots.append(try rekey.carry(slot, grant: grant))
      case .asRecipient: slots.append(try rekey.carry(slot, grant: .root))
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
    guard
      needPassphrase <= doomed.rows.count || plan.kept.contains(where: { $0.kind == .passphrase })
    else {
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
  /// Whether it is kept because a secret was presented, or a recipient agreed to.
  fileprivate var isDecided: Bool { if case .asDevice = self { false } else { true } }
}
