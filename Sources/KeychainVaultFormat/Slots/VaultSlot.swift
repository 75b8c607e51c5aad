public import KeychainSecrets

/// One way to open a vault.
public struct VaultSlot: Hashable, Sendable {
  /// The number that identifies the slot; no other slot of the vault ever has it.
  public let number: UInt32

  /// How it is opened.
  public let kind: SlotKind

  /// What it gives.
  public let grant: SlotGrant

  /// The cost of the passphrase hash; `nil` for other kinds.
  public let passwordHash: PasswordHash.Parameters?

  /// Whether it is the slot of this device; `nil` for other kinds.
  public let isThisDevice: Bool?

  /// The recipient to which it opens the vault; `nil` for other kinds, and while the list of members
  /// cannot be read.
  public let recipient: VaultRecipient?

  /// What people call it; empty if it has no name, or while the list of members cannot be read.
  public let name: String

  package init(
    number: UInt32, kind: SlotKind, grant: SlotGrant, passwordHash: PasswordHash.Parameters?,
    isThisDevice: Bool?, recipient: VaultRecipient? = nil, name: String = ""
  ) {
    self.number = number
    self.kind = kind
    self.grant = grant
    self.passwordHash = passwordHash
    self.isThisDevice = isThisDevice
    self.recipient = recipient
    self.name = name
  }
}
