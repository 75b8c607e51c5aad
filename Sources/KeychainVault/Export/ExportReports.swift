public import KeychainCredentials

/// What an export contains.
public struct ExportReport: Hashable, Sendable {
  /// The number of items.
  public var itemCount: Int

  /// The number of items that were left out because they are bound to a device.
  public var leftOutCount: Int
}

/// What an import did, or would do.
public struct ImportReport: Hashable, Sendable {
  /// The number of new items.
  public var addedCount = 0

  /// The number of items that the vault already has, equal in every detail.
  public var unchangedCount = 0

  /// The items that the vault has with other contents.
  ///
  /// They were overwritten if that was requested, and otherwise left unchanged.
  public var differing: [CredentialIdentity] = []

  /// Whether the differing items were overwritten.
  public var isOverwriting: Bool

  /// The number of items that the export left out because they are bound to a device.
  public var leftOutCount = 0
}
