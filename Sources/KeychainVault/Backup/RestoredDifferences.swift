internal import KeychainCredentials
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
