internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

/// Decides within a transaction what a new root key keeps: every slot of the list of members, except
/// one that is removed.
struct RekeyDecision {
  /// What is asked for.
  struct Request: Sendable {
    /// The slots that are removed in the same transaction.
    var removed: Set<UInt32> = []

    /// Whether items that need a passphrase may be deleted with the last one.
    var deletesItems = false
    var newAdministrationKey = false

    /// Whether a passphrase or key file is added, so that device slots open less.
    var limitsDevices = false

    /// Drops the items that don't open, which the plan lists.
    var dropsDamaged = false
  }

  /// A slot that gets the new keys.
  struct Carried {
    let slot: ListedSlot
    let grant: SlotGrant
  }

  private(set) var plan = RekeyPlan()
  private(set) var carried: [Carried] = []

  /// The items that are deleted with the last passphrase.
  private(set) var itemsToDelete = PassphraseItems()

  /// Why the vault gets a new administration key; `nil` if it keeps its key.
  private(set) var changesKey = false

  /// The items that go: those that are deleted, damaged, or of other devices.
  private(set) var dropped: Set<ItemID> = []

  /// The pages that go, as they are damaged, by the ids of their first items.
  private(set) var droppedPages: Set<ItemID> = []

  init(_ change: borrowing SlotChange, _ request: Request = Request()) throws(KeychainError) {
    let admin = change.admin
    let own = try admin.session.unlocker.device.slot(admin.head)?.number
    for number in request.removed { try remove(number, change, own) }
    let kept = change.slots.filter { !request.removed.contains($0.number) }
    let promoted =
      request.limitsDevices
      ? nil : try kept.deviceToPromote(own, orElse: Self.keepOne)
    carried = kept.map { slot in
      Carried(slot: slot, grant: Self.grant(of: slot, request, promoted: promoted))
    }
    plan.promotesDevice = promoted != nil
    plan.kept = carried.map { $0.slot.described(own: own, grant: $0.grant) }
    decideAdministrationKey(change, request)
    try lookAtItems(change, request)
    if !kept.hasPassphrase {
      try planDeletion(request, try PassphraseItems(of: change, includingOtherDevices: false))
    }
  }

  static let keepOne: KeychainError.Recovery = "add another way first with \(.addSlot(nil))"

  private static func grant(
    of slot: ListedSlot, _ request: Request, promoted: ListedSlot?
  ) -> SlotGrant {
    if slot == promoted { return .administers }
    return request.limitsDevices && slot.kind == .device ? .openTier : slot.grant
  }

  private mutating func remove(
    _ number: UInt32, _ change: borrowing SlotChange, _ own: UInt32?
  ) throws(KeychainError) {
    let slot = try change.slot(toRemove: number)
    plan.removed = slot.described(own: own)
  }

  /// Whoever administered knows the administration key, and keeps it.
  private mutating func decideAdministrationKey(
    _ change: borrowing SlotChange, _ request: Request
  ) {
    let staying = Set(carried.filter { $0.grant == .administers }.map(\.slot.number))
    let leaves = change.slots.contains {
      $0.grant == .administers && !staying.contains($0.number)
    }
    changesKey = leaves || request.newAdministrationKey
    plan.changesAdministrationKey = changesKey
    plan.isSignedByRecoveryCode = changesKey && recoverySigner(change.admin) != nil
  }

  /// What signs for the recovery code, if the vault was opened with one that stays.
  func recoverySigner(_ admin: VaultAdministration) -> CommitSigner? {
    let opened = admin.opener.opened
    guard opened.slot.kind == .recoveryCode,
      carried.contains(where: { $0.slot.number == opened.slot.number })
    else { return nil }
    return opened.signer
  }

  /// Looks at every item: what doesn't open goes with the old keys, if a person agrees.
  private mutating func lookAtItems(
    _ change: borrowing SlotChange, _ request: Request
  ) throws(KeychainError) {
    let (contents, sealing) = (change.contents, change.sealing)
    let report = try VaultVerification(contents: contents, sealing: sealing).run()
    plan.itemCount = report.itemCount
    try contents.forEachItem(sealing.keys) { visited throws(KeychainError) in
      guard case .item(let item) = visited, sealing.isOfOtherDevice(item.entry) else { return }
      plan.otherDeviceItemCount += 1
      dropped.insert(item.id)
    }
    plan.damagedItems = (Array(report.damagedItems.values) + report.damagedPages.values).sorted()
    guard request.dropsDamaged || plan.damagedItems.isEmpty else {
      throw .damagedItems(plan.damagedItems)
    }
    dropped.formUnion(report.damagedItems.keys)
    droppedPages = Set(report.damagedPages.keys)
  }

  private mutating func planDeletion(
    _ request: Request, _ items: PassphraseItems
  ) throws(KeychainError) {
    try items.requireAgreement(request.deletesItems || request.limitsDevices) { names in
      .lastPassphrase(request.removed.first, names, withNewKeys: true)
    }
    // A first passphrase is one.
    guard !request.limitsDevices else { return }
    itemsToDelete = items
    dropped.formUnion(items.items.map(\.id))
    plan.deletedItems = Set(items.credentials.map(\.identity))
  }
}

extension SlotChange {
  /// Returns the slot of a number that a person wants to remove.
  borrowing func slot(toRemove number: UInt32) throws(KeychainError) -> ListedSlot {
    guard let slot = slots.first(where: { $0.number == number }) else { throw .noSlot(number) }
    guard list.vaultKind == .local || number != admin.opener.opened.slot.number else {
      throw KeychainError(
        .refused, "\(slot.member.called) opened this shared vault, so it cannot be removed with it",
        recovery:
          "open the vault with another slot that administers it; \(.listSlots) shows which do")
    }
    return slot
  }
}

extension KeychainError {
  fileprivate static func damagedItems(_ names: [String]) -> Self {
    let shown = names.prefix(10).joined(separator: ", ")
    return Self(
      .damaged,
      "items of the vault do not open, and would be lost with new keys: \(shown)"
        + (names.count > 10 ? ", …" : ""),
      recovery: "restore a backup that has them, or drop them with \(.dropDamaged)")
  }

  static func lastPassphrase(
    _ number: UInt32?, _ names: String, withNewKeys: Bool
  ) -> Self {
    Self(
      .refused, "items need a passphrase, and none would be left: \(names)",
      recovery: "change their accessibility first, or delete them with it: "
        + "\(.removeSlot(number: number, deletingItems: true, withNewKeys: withNewKeys))")
  }
}
