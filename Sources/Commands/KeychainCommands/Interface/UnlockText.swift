internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault

/// The texts about unlocking.
enum UnlockText {
  /// How to open a vault that `unlock` cannot keep open.
  static var unlockingEachTime: String { KeychainError.Recovery.giveKeyEachTime.commandText }

  /// Returns how to open a locked vault that has these slots: with `unlock` if that can keep it
  /// open.
  ///
  /// Without a key file, `unlock` asks for a passphrase.
  static func howToUnlock(_ slots: [VaultSlot]) -> KeychainError.Recovery {
    guard Vault.canStayUnlocked else { return .giveKeyEachTime }
    let kinds = Set(slots.filter { $0.grant != .openTier }.map(\.kind))
    return kinds.contains(.keyFile) && !kinds.contains(.passphrase)
      ? "run \(.unlockWithKeyFile)" : .unlock
  }

  /// Returns how to see what is locked, in the stores that were searched.
  static func unlockToSee(
    _ places: Set<StorePlace>, in stores: AutomaticStore
  ) -> KeychainError.Recovery {
    let howToUnlock = howToUnlock((try? stores.vault.slots()) ?? [])
    guard places.contains(where: { $0 != .vault }) else { return howToUnlock + " to see them" }
    let keyring: KeychainError.Recovery = "unlock the desktop keyring where the desktop is"
    return (places.contains(.vault) ? howToUnlock + ", or " + keyring + "," : keyring)
      + " to see them"
  }
}
