public import KeychainCredentials
public import KeychainVaultFormat

/// What a new root key would keep of a vault, and what it would lose.
public struct RekeyPlan: Hashable, Sendable {
  /// The slots that go on to open the vault.
  public var kept: [VaultSlot] = []

  /// The slot that is removed, if that was asked for.
  public var removed: VaultSlot?

  /// The items that are deleted with a removed slot, as they need a passphrase and none is kept.
  public var deletedItems: Set<CredentialIdentity> = []

  /// The other slots that go: their secrets were not presented, or nobody agreed to the recipient.
  public var dropped: [VaultSlot] = []

  /// The numbers of those among them that no holder of the root key made.
  public var forged: Set<UInt32> = []

  /// Whether this machine's device key alone opens everything from then on, and did not before: neither
  /// a passphrase, a key file nor a recipient is kept.
  public var promotesDevice = false

  /// How many items there are, those that go included.
  public var itemCount = 0

  /// How many items go, as they are bound to other devices and only these can open them.
  public var otherDeviceItemCount = 0

  /// Whether a person must agree: something goes that is not the removed slot itself, or the device key
  /// opens more.
  public var needsAgreement: Bool {
    !dropped.isEmpty || !deletedItems.isEmpty || otherDeviceItemCount > 0 || promotesDevice
  }

  /// Whether nothing goes that `agreed` does not name.
  func staysWithin(_ agreed: RekeyPlan) -> Bool {
    kept == agreed.kept && removed == agreed.removed && dropped == agreed.dropped
      && forged == agreed.forged
      && deletedItems.isSubset(of: agreed.deletedItems)
      && otherDeviceItemCount <= agreed.otherDeviceItemCount
  }
}

/// What a new root key has done to a vault.
public struct RekeyReport: Hashable, Sendable {
  /// What was kept, and what was lost.
  public var plan: RekeyPlan

  /// The check of the vault under its new key, to which identities elsewhere must be pinned.
  public var check: VaultCheck
}
