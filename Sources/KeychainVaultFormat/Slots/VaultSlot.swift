public import KeychainSecrets

/// One way to open a vault.
public struct VaultSlot: Hashable, Sendable {
  /// The number that identifies the slot.
  public let number: UInt32

  /// How it is opened.
  public let kind: SlotKind

  /// What it gives.
  public let grant: SlotGrant

  /// The cost of the passphrase hash; `nil` for other kinds.
  public let passwordHash: PasswordHash.Parameters?

  /// Whether it is the slot of this device; `nil` for other kinds.
  public let isThisDevice: Bool?

  /// The recipient to which it opens the vault; `nil` for other kinds.
  public let recipient: VaultRecipient?

  package init(
    number: UInt32, kind: SlotKind, grant: SlotGrant, passwordHash: PasswordHash.Parameters?,
    isThisDevice: Bool?, recipient: VaultRecipient? = nil
  ) {
    self.number = number
    self.kind = kind
    self.grant = grant
    self.passwordHash = passwordHash
    self.isThisDevice = isThisDevice
    self.recipient = recipient
  }
}
