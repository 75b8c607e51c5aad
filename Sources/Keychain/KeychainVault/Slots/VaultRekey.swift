internal import FoundationEssentials
public import KeychainCredentials
public import KeychainVaultFormat
internal import PrephirencesSystem

/// What a new root key would keep and lose.
public struct RekeyPlan: Hashable, Sendable {
  /// The slots that get the new keys, according to the signed list of members.
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

  /// Whether the recovery code that opened the vault signs the new administration key; users who
  /// have seen the vault then trust the key without comparing the check.
  public var isSignedByRecoveryCode = false

  /// The number of items, including those that are lost.
  public var itemCount = 0

  /// The items that don't open, and are dropped.
  public var damagedItems: [String] = []

  /// The number of items that are lost because only other devices can open them.
  public var otherDeviceItemCount = 0

  /// Whether items are lost.
  public var losesItems: Bool {
    !deletedItems.isEmpty || !damagedItems.isEmpty || otherDeviceItemCount > 0
  }

  /// Whether `agreed`, a plan for the same slots, includes everything that is lost or kept.
  func staysWithin(_ agreed: RekeyPlan) -> Bool {
    kept == agreed.kept && deletedItems.isSubset(of: agreed.deletedItems)
      && Set(damagedItems).isSubset(of: agreed.damagedItems)
      && otherDeviceItemCount <= agreed.otherDeviceItemCount
  }
}

/// What a new root key changed in a vault.
public struct RekeyReport: Hashable, Sendable {
  /// What was kept, and what was lost.
  public var plan: RekeyPlan

  /// The check of the vault, which changes with the administration key; identities on other
  /// machines must then be pinned to it, unless a recovery code signed the change.
  public var check: VaultCheck
}

/// Decides under the lock what new keys keep: every slot in the list of members that is not
/// removed.
struct RekeyDecision {
  struct Request: Sendable {
    /// The slots that are removed in the same transaction.
    var removed: Set<UInt32> = []

    /// Whether items that need a passphrase may be deleted with the last one.
    var deletesItems = false
    var newAdministrationKey = false

    /// Whether a passphrase or key file is added, so that device slots open less.
    var limitsDevices = false

    /// Whether the items that don't open are dropped; the plan lists them.
    var dropsDamaged = false
  }

  private(set) var plan = RekeyPlan()

  /// The slots that get the new keys.
  private(set) var carried: [(slot: ListedSlot, grant: SlotGrant)] = []

  /// The items that are deleted with the last passphrase.
  private(set) var itemsToDelete: [PassphraseItem] = []

  /// The items that are dropped: those that are deleted, damaged, or of other devices.
  private(set) var dropped: Set<ItemID> = []

  /// The damaged pages that are dropped, by the ids of their first items.
  private(set) var droppedPages: Set<ItemID> = []

  /// Decides, and fails if a person `agreed` to less.
  init(
    _ change: borrowing SlotChange, _ request: Request, within agreed: RekeyPlan? = nil
  ) throws(KeychainError) {
    let admin = change.admin
    let own = try admin.session.unlocker.ownSlot(of: admin.head)?.slot.number
    for number in request.removed {
      plan.removed = try change.slot(toRemove: number).described(isThisDevice: number == own)
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
    // The owner of a slot that administered knows the administration key.
    let staying = Set(carried.filter { $0.grant == .administers }.map(\.slot.number))
    plan.changesAdministrationKey =
      request.newAdministrationKey
      || change.slots.contains { $0.grant == .administers && !staying.contains($0.number) }
    plan.isSignedByRecoveryCode =
      plan.changesAdministrationKey && admin.opened.slot.kind == .recoveryCode
      && staying.contains(admin.opened.slot.number)
    try lookAtItems(change, request)
    // Before a first passphrase or key file limits devices, no item needs a passphrase.
    if !request.limitsDevices, !kept.contains(where: { $0.kind == .passphrase }) {
      itemsToDelete = try change.passphraseItems(includingOtherDevices: false)
      try itemsToDelete.requireAgreement(
        request.deletesItems, removing: request.removed.first, withNewKeys: true)
      dropped.formUnion(itemsToDelete.map(\.item.id))
      plan.deletedItems = Set(itemsToDelete.map(\.credential.identity))
    }
    if let agreed, !plan.staysWithin(agreed) { throw .slotsChanged }
  }

  /// Inspects every item: one that doesn't open is dropped with the old keys, if a person agrees.
  private mutating func lookAtItems(
    _ change: borrowing SlotChange, _ request: Request
  ) throws(KeychainError) {
    let report = try VaultVerification(contents: change.contents, sealing: change.sealing).run()
    plan.itemCount = report.itemCount
    plan.otherDeviceItemCount = report.itemsOfOtherDevices.count
    plan.damagedItems = (Array(report.damagedItems.values) + report.damagedPages.names).sorted()
    guard request.dropsDamaged || plan.damagedItems.isEmpty else {
      let names = plan.damagedItems
      throw KeychainError(
        .damaged,
        "items of the vault do not open, and would be lost with new keys: "
          + names.prefix(10).joined(separator: ", ") + (names.count > 10 ? ", …" : ""),
        recovery: "restore a backup that has them, or drop them with \(.dropDamaged)")
    }
    dropped = report.itemsOfOtherDevices.union(report.damagedItems.keys)
    droppedPages = report.damagedPages.firsts
  }
}

/// An item that needs a vault with a passphrase, and is deleted with the last one.
struct PassphraseItem {
  let item: VaultItem
  let credential: Credential
}

extension SlotChange {
  /// Returns the items that need a passphrase; those of other devices, whose names are not read
  /// here, are an error if they are included.
  func passphraseItems(includingOtherDevices: Bool) throws(KeychainError) -> [PassphraseItem] {
    var found: [PassphraseItem] = []
    try contents.forEachPage(sealing.keys) { walked throws(KeychainError) in
      for item in walked.items where item.accessibility == .whenPasscodeSetThisDeviceOnly {
        guard includingOtherDevices || !sealing.isOfOtherDevice(item.entry) else { continue }
        found.append(
          PassphraseItem(item: item, credential: try sealing.credential(of: item, name: item.name)))
      }
    }
    return found
  }
}

extension [PassphraseItem] {
  /// Fails with the names of the items, unless somebody agreed to delete them.
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

/// Gives the vault new keys: every item is sealed again, and every remaining slot gets the keys.
struct VaultRekey {
  let admin: VaultAdministration
  var progress: ((VaultProgress) -> Void)?

  /// The epoch and serial that were seen, if the new list accepts a restored file.
  var floor: (epoch: UInt64, serial: UInt64)?

  struct Outcome<Added> {
    let decision: RekeyDecision
    let check: VaultCheck
    let added: Added
  }

  /// Gives new keys to everything that `decide` keeps, which reads the present contents under the
  /// lock.
  func run(
    _ decide: (borrowing SlotChange) throws(KeychainError) -> RekeyDecision
  ) throws(KeychainError) -> Outcome<Void> { try run(adding: { _, _, _ in }, decide) }

  /// Works as ``run(_:)``, and adds a slot with the new keys; `add` receives its number.
  func run<Added>(
    adding add: (VaultEpoch, UInt32, inout [ListedSlot]) throws(KeychainError) -> Added,
    _ decide: (borrowing SlotChange) throws(KeychainError) -> RekeyDecision
  ) throws(KeychainError) -> Outcome<Added> {
    let session = admin.session
    return try admin.commit { change throws(KeychainError) in
      try session.deadline.excluding { () throws(KeychainError) in
        let (base, outcome) = try prepare(change, decide(change), adding: add)
        var record = change.contents.record(admin.keys)
        let (old, next) = (try admin.head.check(), base.head.identity.administration)
        let (seen, records) = (session.opened.seen, session.opened.records)
        return MemberCommit(
          base: base, result: outcome,
          before: { made throws(KeychainError) in
            // From here on, the file may be the new one.
            try admin.opened.pin(outcome.check)
            guard admin.refuses else {
              // The seen record stays, and the list that accepts the file is followed.
              try records.change(seen) { if $0.id == made.head.id { $0.nextAdministration = next } }
              return
            }
            if next != record.administration { record.nextAdministration = next }
            try records.replace(by: record)
          },
          undo: {
            guard old != outcome.check else { return }
            try? admin.opened.pin(nil, dropping: outcome.check)
            _ = try? records.change(records.read()) { record throws(KeychainError) in
              if record.nextAdministration == next { record.nextAdministration = nil }
            }
          },
          after: { made in
            session.replaceRecords(by: made, base.keys, lettingGo: !admin.refuses)
            session.unlocker.lock([admin.head.id], all: true)
            session.file.forget()
            if old != outcome.check { unpin(old, keeping: outcome.check) }
          })
      }
    }
  }

  private func prepare<Added>(
    _ change: borrowing SlotChange, _ decision: RekeyDecision,
    adding add: (VaultEpoch, UInt32, inout [ListedSlot]) throws(KeychainError) -> Added
  ) throws(KeychainError) -> (NewBase, Outcome<Added>) {
    let changesKey = decision.plan.changesAdministrationKey
    let epoch = try VaultEpoch(
      after: admin.head, key: changesKey ? nil : admin.epoch.administration,
      above: floor?.epoch ?? 0, signer: admin.epoch.keys.signer)
    let presented = try admin.presented()
    var slots = try decision.carried.map { carried throws(KeychainError) in
      try epoch.reseal(carried.slot, grant: carried.grant, inputKey: presented[carried.slot.number])
    }
    let added = try add(epoch, change.list.nextNumber, &slots)
    var successions = change.contents.head.parts.successions
    if decision.plan.isSignedByRecoveryCode, let signer = admin.opened.signer {
      let succession = try Succession(
        id: epoch.identity.id, epoch: epoch.identity.epoch,
        oldKey: admin.epoch.administration.publicKey, newKey: epoch.administration.publicKey,
        lastList: change.list.hash(), recovery: signer)
      successions.append(succession.encoded)
    }
    let (contents, old, progress) = (change.contents, change.sealing, progress)
    let base = try NewBase(
      contents, old.keys,
      bringing: change.signed(slots, epoch, successions: successions, above: floor?.serial)
    ) { writer throws(KeychainError) in
      try contents.putItems(
        from: old, to: ItemSealing(keys: epoch.keys, device: old.device), into: &writer,
        dropping: decision, progress)
    }
    return (base, Outcome(decision: decision, check: try epoch.identity.check(), added: added))
  }

  private func unpin(_ old: VaultCheck, keeping new: VaultCheck) {
    do throws(KeychainError) {
      try admin.opened.pin(new, dropping: old)
    } catch {
      admin.session.notice?(
        Notice(
          kind: .oldContentLeft,
          message: "the vault has its new keys, and the identity file still opens copies under the "
            + "old ones: \(error.message)"))
    }
  }
}

extension VaultContents {
  /// Seals all items again, except the dropped ones, from bytes that are verified meanwhile.
  fileprivate func putItems(
    from old: ItemSealing, to new: ItemSealing, into writer: inout BaseWriter,
    dropping decision: RekeyDecision, _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) {
    var items: [(id: ItemID, item: VaultItem, credential: Credential)] = []
    try forEachPage(old.keys) { walked throws(KeychainError) in
      if let page = walked.damaged, !decision.droppedPages.contains(page.first) {
        throw .damagedItem(page.name)
      }
      for item in walked.items where !decision.dropped.contains(item.id) {
        let credential = try old.credential(of: item, name: item.name)
        items.append((try new.id(of: credential.identity), item, credential))
      }
    }
    items.sort { ($0.item.entry.tier.rawValue, $0.id) < ($1.item.entry.tier.rawValue, $1.id) }
    for (count, (_, item, credential)) in zip(1..., items) {
      let secret = try old.secret(of: item, in: self, name: "\(credential.identity)")
      try writer.put(new.seal(credential, secret: secret))
      if count.isMultiple(of: 100) || count == items.count {
        progress?(VaultProgress(completed: count, total: items.count))
      }
    }
  }
}
