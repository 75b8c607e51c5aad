internal import FoundationEssentials
public import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesSystem

extension Vault {
  /// Accepts the vault as it is, after it was restored from a backup on purpose; `false`, without a
  /// call of `confirm`, if there was nothing to accept.
  ///
  /// It continues the history of the file with a list of members that accepts it, which other
  /// machines then follow. Of a file whose log is damaged, it keeps everything before the damage.
  ///
  /// If the list of members is not the one that was seen, it may contain a removed member. The
  /// vault then gets new keys in the same change. The slot that opens it and this device's slot
  /// stay, and others for which `confirmSlot` returns `true`; items that don't open are deleted.
  ///
  /// - Parameters:
  ///   - confirm: Receives the differences, and the slots of the list of members. Return `false` to
  ///     change nothing. It is called again if the vault gets new keys, and its own keys show that
  ///     more items are lost.
  ///   - confirmSlot: Receives another slot, if the vault gets new keys, and returns whether it
  ///     still opens the vault. Without this closure, no other slot does.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/cancelled`` if `confirm` returns
  ///   `false`, ``KeychainError/Code/busy`` if the vault changed meanwhile,
  ///   ``KeychainError/Code/locked`` or ``KeychainError/Code/incorrectSecret`` if the vault cannot
  ///   be opened as far as is needed, ``KeychainError/Code/refused`` if the secret that opens it
  ///   does not administer it and must, or ``KeychainError/Code/damaged`` if its list of members is
  ///   damaged.
  @discardableResult
  public func acceptRestored(
    confirm: (RestoredDifferences) throws(KeychainError) -> Bool,
    confirmSlot: (VaultSlot) throws(KeychainError) -> Bool = { (_) throws(KeychainError) in false }
  ) throws(KeychainError) -> Bool {
    let session = try existingSession()
    let keys = try unlocker.keys(.nothing, session.opened, session.deadline)
    let found = try RestoredVault(session, keys, isCompared: isCompared)
    guard found.differences.exist else {
      _ = try session.contents(keys)
      return false
    }
    try found.requireConfirmation(session, confirm)
    if let followed = found.followed {
      try session.opened.records.replaceAlone(by: followed, lettingGo: session.opened.seen)
      // The vault is accepted. A failure here shows when the vault is used.
      _ = try? session.reopened().contents(keys)
      return true
    }
    let admin = try VaultAdministration(session, refuses: false)
    if found.differences.makesNewKeys {
      // Only all keys together show every item that does not open.
      let opened = try RestoredVault(session, admin.epoch.keys, isCompared: isCompared)
      if !opened.losses.isSubset(of: found.losses) {
        try opened.requireConfirmation(session, confirm)
      }
      try acceptWithNewKeys(opened, admin, confirmSlot)
    } else {
      try accept(found, admin)
    }
    let others = session.opened.seen.records.map(\.id).filter { $0 != session.head.id }
    unlocker.lock(Set(others), all: true)
    return true
  }

  /// Whether a person compared the check of a head, or the available identity is pinned to it.
  private func isCompared(_ head: VaultHead) throws(KeychainError) -> Bool {
    let check = try head.check()
    if let given = configuration.comparedCheck {
      guard given == check else { throw .otherCheck(given, found: check) }
      return true
    }
    return try unlocker.isPinned(to: check)
  }

  /// Continues the file under the same keys with a list that accepts it.
  private func accept(_ found: RestoredVault, _ admin: VaultAdministration) throws(KeychainError) {
    let session = admin.session
    try admin.commit { change throws(KeychainError) in
      try found.requireUnchanged(change.contents)
      change.accepting = found.differences.seenSerial ?? 0
      return MemberCommit(
        base: try change.base(), result: (),
        after: { session.replaceRecords(by: $0, admin.keys, lettingGo: true) })
    }
  }

  private func acceptWithNewKeys(
    _ found: RestoredVault, _ admin: VaultAdministration,
    _ confirmSlot: (VaultSlot) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    var removed: Set<UInt32> = []
    for slot in found.differences.slots
    where slot.number != admin.opened.slot.number && slot.isThisDevice != true {
      let isKept = try admin.session.deadline.excluding { () throws(KeychainError) in
        try confirmSlot(slot)
      }
      if !isKept { removed.insert(slot.number) }
    }
    let request = RekeyDecision.Request(
      removed: removed, newAdministrationKey: true, dropsDamaged: true)
    let rekey = VaultRekey(
      admin: admin,
      floor: (found.differences.seenEpoch ?? 0, found.differences.seenSerial ?? 0))
    _ = try rekey.run { change throws(KeychainError) in
      try found.requireUnchanged(change.contents)
      let decision = try RekeyDecision(change, request)
      // A page or a secret's box can become damaged under the same digest, so only items that were
      // shown as lost may be dropped.
      guard decision.dropped.union(decision.droppedPages).isSubset(of: found.losses) else {
        throw .changedMeanwhile
      }
      return decision
    }
  }
}

/// How a vault's file differs from what was seen here before, for the person who accepts or refuses
/// it.
public struct RestoredDifferences: Hashable, Sendable {
  /// The number of the file's newest change.
  public var fileNumber: UInt64

  /// The number of the newest change that was seen here; `nil` if none was, or if it was of another
  /// vault.
  public var seenNumber: UInt64?

  /// The number of the file's keys: 1 for the first ones, and one more for each new set.
  public var fileEpoch: UInt64

  /// The number of the keys that were seen here.
  public var seenEpoch: UInt64?

  /// The number of the file's list of members.
  public var fileSerial: UInt64

  /// The number of the list of members that was seen here.
  public var seenSerial: UInt64?

  /// Whether it is another vault than the one seen.
  public var isOtherVault: Bool

  /// Whether it has another administration key than the one seen, and nothing trusted leads to it.
  public var isAdministrationKeyChanged: Bool

  /// Whether a person compared its administration key, and everything else follows what was seen:
  /// accepting then changes only the record.
  public var isRecordAloneChanged: Bool

  /// Whether it has another list of members than the one seen.
  public var isOtherList: Bool

  /// Whether two copies of the vault were changed, and this is the one that was not seen.
  public var isFork: Bool

  /// Whether the record of what was seen is damaged.
  public var isSeenRecordDamaged: Bool

  /// Whether the file is damaged after its newest intact change, so that later ones are lost.
  public var isCutOff: Bool

  /// Whether the file is refused as it is.
  public var isRefused: Bool

  /// The number of items, as far as they can be counted.
  public var itemCount: Int

  /// The number of items that only another device can read.
  public var otherDeviceItemCount: Int

  /// The slots that open the file.
  public var slots: [VaultSlot]

  /// The damage in the file.
  public var problems: [String]

  /// The items that do not open; they are lost if accepting creates new keys, and stay damaged
  /// otherwise.
  public var damagedItems: [String]

  /// The items that accepting loses, because they do not open and the vault gets new keys.
  public var lostItems: [String] { makesNewKeys ? damagedItems : [] }

  /// Whether accepting creates new keys, because the file has another list of members than the one
  /// seen, whose members may have been removed for a reason unknown here.
  public var makesNewKeys: Bool {
    isRefused && !isRecordAloneChanged && seenSerial != nil
      && (isAdministrationKeyChanged || isOtherList)
  }

  /// Whether there is anything to decide.
  var exist: Bool { isRefused || isCutOff }
}

/// A file that is refused, or damaged after its newest intact change, with the differences.
struct RestoredVault: Sendable {
  let contents: VaultContents
  let differences: RestoredDifferences

  /// The record with the administration key of the file, if a person compared that key and
  /// everything else follows: only the record changes then.
  let followed: SeenRecord?

  /// The ids of what new keys lose: items that don't open or belong to other devices, and the first
  /// items of damaged pages.
  let losses: Set<ItemID>

  init(
    _ session: VaultSession, _ keys: TierKeys,
    isCompared: (VaultHead) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    let (opened, known) = (session.opened, session.opened.record)
    let list = try session.file.list(opened.head, keys.open)
    contents = try session.file.contentsAsFarAsGood(opened, keys)
    var relation = try contents.relation(to: opened.seen, keys)
    let isOther = opened.seen.records.contains { $0.id != opened.head.id }
    var isAdministrationKeyChanged = false
    if let known { isAdministrationKeyChanged = try !known.leads(to: opened.head) }
    var followed: SeenRecord?
    if isAdministrationKeyChanged, !isOther, !contents.isCutOff, var record = known,
      try isCompared(opened.head)
    {
      (record.administration, record.nextAdministration) = (opened.head.administration, nil)
      let failure = relation.failure
      relation = try contents.relation(
        to: Seen(contents: [.record(record)], paths: [opened.path]), keys)
      if relation.failure == nil, list.serial > record.serial, list.epoch > record.epoch {
        followed = record
      }
      relation.failure = failure
    }
    self.followed = followed
    let sealing = try session.sealing(keys)
    let report = try VaultVerification(contents: contents, sealing: sealing).run()
    losses = report.itemsOfOtherDevices.union(report.damagedItems.keys)
      .union(report.damagedPages.firsts)
    let own = try session.unlocker.ownSlot(of: opened.head)?.slot.number
    differences = RestoredDifferences(
      fileNumber: contents.newest.n, seenNumber: known?.proved[0]?.n,
      fileEpoch: opened.head.epoch, seenEpoch: known?.epoch, fileSerial: list.serial,
      seenSerial: known?.serial, isOtherVault: isOther,
      isAdministrationKeyChanged: isAdministrationKeyChanged, isRecordAloneChanged: followed != nil,
      isOtherList: try known.map { known throws(KeychainError) in
        let hash = try list.hash()
        return known.serial != list.serial || known.listHash != hash
      } ?? false,
      isFork: relation.isFork, isSeenRecordDamaged: opened.seen.isUnreadable,
      isCutOff: contents.isCutOff, isRefused: relation.failure != nil, itemCount: report.itemCount,
      otherDeviceItemCount: report.itemsOfOtherDevices.count,
      slots: list.members.compactMap { member in
        opened.head.slots.first { $0.number == member.number }?.described(
          isThisDevice: member.number == own, member: member)
      },
      problems: report.problems,
      damagedItems: (Array(report.damagedItems.values) + report.damagedPages.names).sorted())
  }

  /// Asks a person, and shows the differences.
  func requireConfirmation(
    _ session: VaultSession, _ confirm: (RestoredDifferences) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    let isConfirmed = try session.deadline.excluding { () throws(KeychainError) in
      try confirm(differences)
    }
    guard isConfirmed else {
      throw KeychainError(.cancelled, "the restored vault was not accepted")
    }
  }

  func requireUnchanged(_ contents: VaultContents) throws(KeychainError) {
    guard contents.newest.digest == self.contents.newest.digest else {
      throw .changedMeanwhile
    }
  }
}

extension KeychainError {
  fileprivate static let changedMeanwhile = KeychainError(
    .busy, "the vault changed meanwhile; nothing was changed", recovery: .tryAgain)
}
