public import KeychainVaultFormat

/// How a restored vault differs from what was seen before.
public struct RestoredDifferences: Hashable, Sendable {
  /// The counter of the file.
  public var fileCounter: UInt64

  /// The counter that was seen, if it was of this vault.
  public var seenCounter: UInt64?

  /// Whether the record is of another vault.
  public var isOtherVault: Bool

  /// Whether as many changes were seen as the file counts, but others: two copies of the vault were
  /// changed.
  public var isFork: Bool

  /// Whether the two counters lie further apart than any use explains, so that the greater one is forged.
  public var isForged: Bool

  /// Whether the record of what was seen is damaged, so that nothing shows whether changes are lost.
  public var isSeenRecordDamaged: Bool

  /// Whether the vault's state row is damaged, so that what it counted is not known.
  public var isStateDamaged: Bool

  /// How many items the vault's state row counts; 0 if it is damaged.
  public var expectedItemCount: Int

  /// How many items there are.
  public var itemCount: Int

  /// How many slots the vault's state row counts; 0 if it is damaged.
  public var expectedSlotCount: Int

  /// The slots that open the vault: one that was removed may be among them again.
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
