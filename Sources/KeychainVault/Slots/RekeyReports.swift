public import KeychainCredentials
public import KeychainVaultFormat

/// What a new root key would keep of a vault, and what would be lost.
public struct RekeyPlan: Hashable, Sendable {
  /// The slots that continue to open the vault.
  public var kept: [VaultSlot] = []

  /// The slot that is removed; `nil` if no removal was requested.
  public var removed: VaultSlot?

  /// The items that are deleted with a removed slot because they need a passphrase and no
  /// passphrase is kept.
  public var deletedItems: Set<CredentialIdentity> = []

  /// The other slots that are lost: their secrets were not presented, or the recipient was not
  /// confirmed.
  public var dropped: [VaultSlot] = []

  /// The numbers of the slots in ``dropped`` that were not made by a holder of the root key.
  public var forged: Set<UInt32> = []

  /// Whether this machine's device key alone will open everything, and did not before: no
  /// passphrase, key file or recipient is kept.
  public var promotesDevice = false

  /// The number of items, including those that are lost.
  public var itemCount = 0

  /// The number of items that are lost because only other devices can open them.
  public var otherDeviceItemCount = 0

  /// Whether a person must confirm: something other than the removed slot is lost, or the device
  /// key opens more than before.
  public var needsAgreement: Bool {
    !dropped.isEmpty || !deletedItems.isEmpty || otherDeviceItemCount > 0 || promotesDevice
  }

  /// Whether everything that is lost was named in `agreed`.
  func staysWithin(_ agreed: RekeyPlan) -> Bool {
    kept == agreed.kept && removed == agreed.removed && dropped == agreed.dropped
      && forged == agreed.forged
      && deletedItems.isSubset(of: agreed.deletedItems)
      && otherDeviceItemCount <= agreed.otherDeviceItemCount
  }
}

/// What a new root key changed in a vault.
public struct RekeyReport: Hashable, Sendable {
  /// What was kept, and what was lost.
  public var plan: RekeyPlan

  /// The check of the vault under its new key.
  ///
  /// Identities on other machines must be pinned to it.
  public var check: VaultCheck
}
