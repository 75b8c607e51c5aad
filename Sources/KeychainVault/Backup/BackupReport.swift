public import KeychainVaultFormat

/// What a backup contains.
public struct BackupReport: Hashable, Sendable {
  /// The number of items.
  public var itemCount: Int

  /// The number of items that open only with the device secret of this machine or another one.
  public var deviceItemCount: Int

  /// The slots that open it.
  public var slots: [VaultSlot]

  /// Whether only this machine's device secret opens it.
  public var needsThisDevice: Bool
}
