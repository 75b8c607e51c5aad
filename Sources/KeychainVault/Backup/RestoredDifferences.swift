public import KeychainVaultFormat

/// How a restored vault differs from its seen record.
public struct RestoredDifferences: Hashable, Sendable {
  /// The counter of the file.
  public var fileCounter: UInt64

  /// The counter that was seen, if it was of this vault.
  public var seenCounter: UInt64?

  /// Whether the record is of another vault.
  public var isOtherVault: Bool

  /// Whether the seen record has the same number of changes, but different ones: two copies of the
  /// vault were changed.
  public var isFork: Bool

  /// Whether the counters differ by more than is possible, so that the greater one is forged.
  public var isForged: Bool

  /// Whether the seen record is damaged, so that lost changes cannot be detected.
  public var isSeenRecordDamaged: Bool

  /// Whether the vault's state row is damaged, so that its counts are unknown.
  public var isStateDamaged: Bool

  /// The number of items by the vault's state row; 0 if it is damaged.
  public var expectedItemCount: Int

  /// The number of items in the vault.
  public var itemCount: Int

  /// The number of slots by the vault's state row; 0 if it is damaged.
  public var expectedSlotCount: Int

  /// The slots that open the vault.
  ///
  /// A removed slot may be among them again.
  public var slots: [VaultSlot]

  /// The numbers of slots that are damaged.
  public var damagedSlots: [UInt32]

  /// Whether the rows agree with the vault's state row.
  public var isConsistent: Bool

  /// Whether there is anything to accept.
  var exist: Bool {
    isOtherVault || isFork || isForged || !isConsistent || fileCounter < seenCounter ?? 0
  }
}
