public import KeychainCredentials
public import KeychainVaultFormat

/// What a new root key would keep of a vault, and what would be lost.
public struct RekeyPlan: Hashable, Sendable {
  /// The slots that get the new keys, by the signed list of members.
  ///
  /// People compare their names, and the fingerprints of their recipients.
  public var kept: [VaultSlot] = []

  /// The slot that is removed; `nil` if no removal was requested.
  public var removed: VaultSlot?

  /// The items that are deleted with a removed slot because they need a passphrase and no
  /// passphrase is kept.
  public var deletedItems: Set<CredentialIdentity> = []

  /// Whether this machine's device key alone will open everything, and did not before: no
  /// passphrase, key file or recipient is kept.
  public var promotesDevice = false

  /// Whether the vault gets a new administration key, and with it a new check.
  public var changesAdministrationKey = false

  /// Whether the recovery code that opened the vault signs the new administration key.
  ///
  /// Who has seen the vault before then trusts it without comparing the check.
  public var isSignedByRecoveryCode = false

  /// The number of items, including those that are lost.
  public var itemCount = 0

  /// The items that don't open, and go.
  public var damagedItems: [String] = []

  /// The number of items that are lost because only other devices can open them.
  public var otherDeviceItemCount = 0

  /// Whether items are lost.
  public var losesItems: Bool {
    !deletedItems.isEmpty || !damagedItems.isEmpty || otherDeviceItemCount > 0
  }

  /// Whether everything that is lost or kept was named in `agreed`.
  func staysWithin(_ agreed: RekeyPlan) -> Bool {
    kept == agreed.kept && removed == agreed.removed
      && changesAdministrationKey == agreed.changesAdministrationKey
      && deletedItems.isSubset(of: agreed.deletedItems)
      && Set(damagedItems).isSubset(of: agreed.damagedItems)
      && otherDeviceItemCount <= agreed.otherDeviceItemCount
  }
}

/// What a new root key changed in a vault.
public struct RekeyReport: Hashable, Sendable {
  /// What was kept, and what was lost.
  public var plan: RekeyPlan

  /// The check of the vault, which changes with the administration key.
  ///
  /// If it changed, identities on other machines must be pinned to it, unless a recovery code signed
  /// the change.
  public var check: VaultCheck
}
