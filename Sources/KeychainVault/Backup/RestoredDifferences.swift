internal import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat

/// How a vault's file differs from what was seen here before, for a person who decides whether it counts.
public struct RestoredDifferences: Hashable, Sendable {
  /// The number of the newest change of the file.
  public var fileNumber: UInt64

  /// The number of the newest change that was seen here; `nil` if none was, or of another vault.
  public var seenNumber: UInt64?

  /// The number of the file's keys: 1 for the first ones, and one more for each new set.
  public var fileEpoch: UInt64

  /// The number of the keys that were seen here.
  public var seenEpoch: UInt64?

  /// The number of the file's list of what opens the vault.
  public var fileSerial: UInt64

  /// The number of the list that was seen here.
  public var seenSerial: UInt64?

  /// Whether it is another vault than the one seen.
  public var isOtherVault: Bool

  /// Whether it has another administration key than the one seen, and nothing that is trusted leads to it.
  public var isAdministrationKeyChanged: Bool

  /// Whether a person compared its administration key, and all else follows what was seen, so that accepting changes the record alone.
  public var isRecordAloneChanged: Bool

  /// Whether it has another list of what opens it than the one seen.
  public var isOtherList: Bool

  /// Whether two copies of the vault were changed, and this is the other one.
  public var isFork: Bool

  /// Whether the record of what was seen is damaged.
  public var isSeenRecordDamaged: Bool

  /// Whether the file is damaged behind its newest change, so that later ones are lost.
  public var isCutOff: Bool

  /// Whether the file is refused as it is.
  public var isRefused: Bool

  /// The number of items, as far as they can be counted.
  public var itemCount: Int

  /// The number of items that only another device can read.
  public var otherDeviceItemCount: Int

  /// What opens the file.
  public var slots: [VaultSlot]

  /// What is damaged in the file.
  public var problems: [String]

  /// Whether accepting makes new keys: the file has another list than the one that was seen, and whoever is in it could be there for a
  /// reason that nobody here knows.
  public var makesNewKeys: Bool {
    isRefused && !isOtherVault && !isRecordAloneChanged && seenSerial != nil
      && (isAdministrationKeyChanged || isOtherList)
  }

  /// Whether there is anything to decide.
  var exist: Bool { isRefused || isCutOff }
}

/// A file that is refused, or damaged behind its newest change, with what differs.
struct RestoredVault: Sendable {
  let contents: VaultContents
  let differences: RestoredDifferences

  /// What was seen, under the administration key of the file, if a person compared that and all else follows: then the record
  /// alone changes.
  let followed: SeenRecord?

  init(
    _ session: VaultSession, _ keys: TierKeys,
    isCompared: (VaultHead) throws(KeychainError) -> Bool
  ) throws(KeychainError) {
    let (opened, record) = (session.opened, session.opened.seen.record)
    let list = try session.file.list(opened.head, keys.open)
    contents = try session.file.contentsAsFarAsGood(opened, keys)
    let isOther = record.map { $0.id != opened.head.id } ?? false
    var relation = try contents.relation(to: record, keys)
    var isAdministrationKeyChanged = false
    if let record, !isOther { isAdministrationKeyChanged = try !record.leads(to: opened.head) }
    var followed: SeenRecord?
    if isAdministrationKeyChanged, !contents.isCutOff, var record, try isCompared(opened.head) {
      (record.administration, record.nextAdministration) = (opened.head.administration, nil)
      let failure = relation.failure
      relation = try contents.relation(to: record, keys)
      if relation.failure == nil, list.serial > record.serial, list.epoch > record.epoch {
        followed = record
      }
      relation.failure = failure
    }
    self.followed = followed
    let sealing = try session.sealing(keys)
    let report = try VaultVerification(contents: contents, sealing: sealing).run()
    let own = try session.unlocker.ownSlot(of: opened.head)?.slot.number
    let known = isOther ? nil : record
    differences = RestoredDifferences(
      fileNumber: contents.newest.n, seenNumber: known?.proved[0]?.n,
      fileEpoch: opened.head.epoch, seenEpoch: known?.epoch, fileSerial: list.serial,
      seenSerial: known?.serial, isOtherVault: isOther,
      isAdministrationKeyChanged: isAdministrationKeyChanged, isRecordAloneChanged: followed != nil,
      isOtherList: try known.map { known throws(KeychainError) in
        try known.listHash != list.hash()
      } ?? false,
      isFork: relation.isFork, isSeenRecordDamaged: opened.seen == .unreadable,
      isCutOff: contents.isCutOff, isRefused: relation.failure != nil, itemCount: report.itemCount,
      otherDeviceItemCount: report.itemsOfOtherDevices.count,
      slots: list.members.compactMap { member in
        opened.head.slots.first { $0.number == member.number }?.described(
          isThisDevice: member.number == own, member: member)
      },
      problems: report.problems)
  }

  func requireUnchanged(_ contents: VaultContents) throws(KeychainError) {
    guard contents.newest.digest == self.contents.newest.digest else {
      throw KeychainError(.busy, "the vault changed meanwhile", recovery: .tryAgain)
    }
  }
}
