public import KeychainVaultFormat

/// How a restored vault differs from its seen record, and from what its own state says.
public struct RestoredDifferences: Hashable, Sendable {
  /// The counter of the file; 0 if its state is damaged.
  public var fileCounter: UInt64

  /// The counter that was seen, if it was of this vault.
  public var seenCounter: UInt64?

  /// The number of root keys that the vault had.
  public var fileEpoch: UInt64

  /// The number of root keys that were seen, if it was of this vault.
  public var seenEpoch: UInt64?

  /// The serial number of the list of members.
  public var fileSerial: UInt64

  /// The serial number of the list of members that was seen, if it was of this vault.
  public var seenSerial: UInt64?

  /// Whether the record is of another vault.
  public var isOtherVault: Bool

  /// Whether the vault has another administration key than the one that was seen, which does not
  /// follow from it.
  public var isAdministrationKeyChanged: Bool

  /// Whether the vault has another list of members than the one that was seen.
  public var isOtherList: Bool

  /// Whether two copies of the vault were changed, and the record is of the other one.
  public var isFork: Bool

  /// Whether the counters differ by more than is possible, so that the greater one is forged.
  public var isForged: Bool

  /// Whether the seen record is damaged, so that lost changes cannot be detected.
  public var isSeenRecordDamaged: Bool

  /// Whether the vault's state is damaged, so that nothing shows which items should be there.
  public var isStateDamaged: Bool

  /// Whether the vault is refused as it is.
  public var isRefused: Bool

  /// The number of items by the vault's state; 0 if it is damaged.
  public var expectedItemCount: Int

  /// The number of items in the vault.
  public var itemCount: Int

  /// The number of items that the vault's trees list and that are missing.
  public var missingItems: Int

  /// The number of items in the vault that its trees do not list.
  public var unlistedItems: Int

  /// The number of items that are not as the vault's trees list them.
  public var changedItems: Int

  /// The number of items that are bound to other devices, and are lost if the vault gets new keys.
  public var otherDeviceItemCount: Int

  /// The slots of the list of members.
  ///
  /// A removed slot may be among them again.
  public var slots: [VaultSlot]

  /// The numbers of slots that are damaged.
  public var damagedSlots: [UInt32]

  /// The numbers of the slots that the list of members does not have, and that open nothing.
  public var unlistedSlots: [UInt32]

  /// What a verification finds, in words: items that the vault's state lists and that are missing, or
  /// the reverse, or that differ.
  public var problems: [String]

  /// Whether the rows agree with the vault's state.
  public var isConsistent: Bool

  /// Whether accepting the vault takes a secret that administers it: it is another vault, or has
  /// another administration key or list of members than the one that was seen.
  public var needsAdministrator: Bool {
    guard isRefused else { return false }
    return isOtherVault || isAdministrationKeyChanged || isOtherList
      || fileEpoch != seenEpoch ?? fileEpoch
  }

  /// Whether accepting the vault gives it new keys: its list of members is older than the one that
  /// was seen, and may have slots that were removed since.
  public var makesNewKeys: Bool {
    fileEpoch < seenEpoch ?? 0 || fileSerial < seenSerial ?? 0
  }

  /// Whether there is anything to accept.
  var exist: Bool {
    isRefused || !isConsistent
  }
}
