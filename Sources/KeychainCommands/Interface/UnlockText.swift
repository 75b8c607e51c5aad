internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault

/// The texts about unlocking.
enum UnlockText {
  /// How to open a vault that `unlock` cannot keep open.
  static var unlockingEachTime: String { KeychainError.Recovery.giveKeyEachTime.commandText }

  /// How to open a locked vault: with `unlock` if that can keep it open.
  private static var howToUnlock: KeychainError.Recovery {
    Vault.canStayUnlocked ? .unlock : .giveKeyEachTime
  }

  /// Returns how to see what is locked, in the stores that were searched.
  static func unlockToSee(_ places: Set<StorePlace>) -> KeychainError.Recovery {
    guard places.contains(where: { $0 != .vault }) else { return howToUnlock + " to see them" }
    let keyring: KeychainError.Recovery = "unlock the desktop keyring where the desktop is"
    return (places.contains(.vault) ? howToUnlock + ", or " + keyring + "," : keyring)
      + " to see them"
  }
}
