public import KeychainCredentials

/// What an export holds.
public struct ExportReport: Hashable, Sendable {
  /// How many items are in it.
  public var itemCount: Int

  /// How many stayed behind, because they are bound to a device.
  public var leftOutCount: Int
}

/// What an import did, or would do.
public struct ImportReport: Hashable, Sendable {
  /// How many items are new.
  public var addedCount = 0

  /// How many were there already, in every detail.
  public var unchangedCount = 0

  /// The items that were there already and differ: they were overwritten if that was asked for, else
  /// left alone.
  public var differing: [CredentialIdentity] = []

  /// Whether the differing items were overwritten.
  public var isOverwriting: Bool

  /// How many items stayed behind when the export was made, because they are bound to a device.
  public var leftOutCount = 0
}
