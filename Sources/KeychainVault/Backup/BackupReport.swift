public import KeychainVaultFormat

/// What a backup holds.
public struct BackupReport: Hashable, Sendable {
  /// How many items are in it.
  public var itemCount: Int

  /// How many of them open only together with this machine's device secret, or another's.
  public var deviceItemCount: Int

  /// The slots that open it.
  public var slots: [VaultSlot]

  /// Whether nothing but this machine's device secret opens it.
  public var needsThisDevice: Bool
}
