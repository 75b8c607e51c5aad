public import KeychainCredentials
public import KeychainVaultFormat

/// What a new root key would keep of a vault, and what would be lost.
public struct RekeyPlan: Hashable, Sendable {
  /// The slots that get the new keys, by the signed list of members.
  ///
  /// People compare their names, and the fingerprints of their recipients.
  public var kept: [VaultSlot] = []

  /// The slot that is removed; `nil` if no removal was requested.
  public var removed: VaultSlot?

  /// The items that are deleted with a removed slot because they need a passphrase and no
  /// passphrase is kept.
  public var deletedItems: Set<CredentialIdentity> = []

  /// Whether this machine's device key alone will open everything, and did not before: no
  /// passphrase, key file or recipient is kept.
  public var promotesDevice = false

  /// Whether the vault gets a new administration key, and with it a new check.
  public var changesAdministrationKey = false

  /// Whether the recovery code that opened the vault signs the new administration key.
  ///
  /// Who has seen the vault before then trusts it without comparing the check.
  public var isSignedByRecoveryCode = false

  /// The number of items, including those that are lost.
  public var itemCount = 0

  /// The items that don't open, and go.
  public var damagedItems: [String] = []

  /// The number of items that are lost because only other devices can open them.
  public var otherDeviceItemCount = 0

  /// Whether items are lost.
  public var losesItems: Bool {
    !deletedItems.isEmpty || !damagedItems.isEmpty || otherDeviceItemCount > 0
  }

  /// Whether everything that is lost or kept was named in `agreed`.
  func staysWithin(_ agreed: RekeyPlan) -> Bool {
    kept == agreed.kept && removed == agreed.removed
      && changesAdministrationKey == agreed.changesAdministrationKey
      && deletedItems.isSubset(of: agreed.deletedItems)
      && Set(damagedItems).isSubset(of: agreed.damagedItems)
      && otherDeviceItemCount <= agreed.otherDeviceItemCount
  }
}

/// What a new root key changed in a vault.
public struct RekeyReport: Hashable, Sendable {
  /// What was kept, and what was lost.
  public var plan: RekeyPlan

  /// The check of the vault, which changes with the administration key.
  ///
  /// If it changed, identities on other machines must be pinned to it, unless a recovery code signed
  /// the change.
  public var check: VaultCheck
}

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

  private(set) var plan = RekeyPlan()

  /// The slots that get the new keys.
  private(set) var carried: [(slot: ListedSlot, grant: SlotGrant)] = []

  /// The items that are deleted with the last passphrase.
  private(set) var itemsToDelete: [PassphraseItem] = []

  /// The items that go: those that are deleted, damaged, or of other devices.
  private(set) var dropped: Set<ItemID> = []

  /// The pages that go, as they are damaged, by the ids of their first items.
  private(set) var droppedPages: Set<ItemID> = []

  /// Decides, and fails if a person `agreed` to less.
  init(
    _ change: borrowing SlotChange, _ request: Request, within agreed: RekeyPlan? = nil
  ) throws(KeychainError) {
    let admin = change.admin
    let own = try admin.session.unlocker.device.slot(admin.head)?.number
    for number in request.removed {
      let slot = try change.slot(toRemove: number)
      plan.removed = slot.described(isThisDevice: number == own)
    }
    let kept = change.slots.filter { !request.removed.contains($0.number) }
    let promoted = request.limitsDevices ? nil : try kept.deviceToPromote(own)
    carried = kept.map { slot in
      if slot == promoted { return (slot, .administers) }
      return (slot, request.limitsDevices && slot.kind == .device ? .openTier : slot.grant)
    }
    plan.promotesDevice = promoted != nil
    plan.kept = carried.map {
      $0.slot.described(isThisDevice: $0.slot.number == own, grant: $0.grant)
    }
    decideAdministrationKey(change, request)
    try lookAtItems(change, request)
    if !kept.contains(where: { $0.kind == .passphrase }) { try planDeletion(change, request) }
    if let agreed, !plan.staysWithin(agreed) { throw .slotsChanged }
  }

  /// Whoever administered knows the administration key, and keeps it.
  private mutating func decideAdministrationKey(
    _ change: borrowing SlotChange, _ request: Request
  ) {
    let staying = Set(carried.filter { $0.grant == .administers }.map(\.slot.number))
    let leaves = change.slots.contains {
      $0.grant == .administers && !staying.contains($0.number)
    }
    plan.changesAdministrationKey = leaves || request.newAdministrationKey
    plan.isSignedByRecoveryCode =
      plan.changesAdministrationKey && recoverySigner(change.admin) != nil
  }

  /// What signs for the recovery code, if the vault was opened with one that stays.
  func recoverySigner(_ admin: VaultAdministration) -> CommitSigner? {
    let opened = admin.opened
    guard opened.slot.kind == .recoveryCode,
      carried.contains(where: { $0.slot.number == opened.slot.number })
    else { return nil }
    return opened.signer
  }

  /// Looks at every item: what doesn't open goes with the old keys, if a person agrees.
  private mutating func lookAtItems(
    _ change: borrowing SlotChange, _ request: Request
  ) throws(KeychainError) {
    let report = try VaultVerification(contents: change.contents, sealing: change.sealing).run()
    plan.itemCount = report.itemCount
    plan.otherDeviceItemCount = report.itemsOfOtherDevices.count
    plan.damagedItems = (Array(report.damagedItems.values) + report.damagedPages.values).sorted()
    guard request.dropsDamaged || plan.damagedItems.isEmpty else {
      let names = plan.damagedItems
      throw KeychainError(
        .damaged,
        "items of the vault do not open, and would be lost with new keys: "
          + names.prefix(10).joined(separator: ", ") + (names.count > 10 ? ", …" : ""),
        recovery: "restore a backup that has them, or drop them with \(.dropDamaged)")
    }
    dropped = report.itemsOfOtherDevices.union(report.damagedItems.keys)
    droppedPages = Set(report.damagedPages.keys)
  }

  private mutating func planDeletion(
    _ change: borrowing SlotChange, _ request: Request
  ) throws(KeychainError) {
    // A first passphrase is one.
    guard !request.limitsDevices else { return }
    let items = try change.passphraseItems(includingOtherDevices: false)
    try items.requireAgreement(
      request.deletesItems, removing: request.removed.first, withNewKeys: true)
    itemsToDelete = items
    dropped.formUnion(items.map(\.item.id))
    plan.deletedItems = Set(items.map(\.credential.identity))
  }
}

/// An item that needs a vault with a passphrase, and goes with the last one.
struct PassphraseItem {
  let item: VaultItem
  let credential: Credential
}

extension SlotChange {
  /// Those of other devices, whose names are not read here, are an error if they are included.
  func passphraseItems(
    includingOtherDevices: Bool
  ) throws(KeychainError) -> [PassphraseItem] {
    var found: [PassphraseItem] = []
    try contents.forEachPage(sealing.keys) { walked throws(KeychainError) in
      for item in walked.items where item.accessibility == .whenPasscodeSetThisDeviceOnly {
        guard includingOtherDevices || !sealing.isOfOtherDevice(item.entry) else { continue }
        let credential = try sealing.credential(of: item, name: item.name)
        found.append(PassphraseItem(item: item, credential: credential))
      }
    }
    return found
  }
}

extension [PassphraseItem] {
  /// Fails with the names of the items, if nobody agreed to delete them.
  func requireAgreement(
    _ isAgreed: Bool, removing number: UInt32?, withNewKeys: Bool
  ) throws(KeychainError) {
    guard !isAgreed, !isEmpty else { return }
    let names = map { "\($0.credential.identity)" }.joined(separator: "; ")
    throw KeychainError(
      .refused, "items need a passphrase, and none would be left: \(names)",
      recovery: "change their accessibility first, or delete them with it: "
        + "\(.removeSlot(number: number, deletingItems: true, withNewKeys: withNewKeys))")
  }
}
