internal import KeychainStores
internal import KeychainVault

/// The texts about unlocking.
enum UnlockText {
  /// How to open a locked vault: with `unlock` if that can keep it open.
  static var howToUnlock: String {
    Vault.canStayUnlocked
      ? "run '\(KeychainCommandContext.current.commandPath) unlock'" : unlockingEachTime
  }

  /// The recovery for a locked vault that `unlock` cannot keep open.
  static let unlockingEachTime =
    "give each command what unlocks the vault: a key file, which needs neither time nor memory, by "
    + "KEYCHAIN_KEY_FILE, or a passphrase by KEYCHAIN_PASSPHRASE_FILE"

  /// Returns how to see what is locked, in the stores that were searched.
  static func unlockToSee(_ places: Set<StorePlace>) -> String {
    let command = howToUnlock
    guard places.contains(where: { $0 != .vault }) else { return "\(command) to see them" }
    let keyring = "unlock the desktop keyring where the desktop is"
    return (places.contains(.vault) ? "\(command), or \(keyring)," : keyring) + " to see them"
  }
}
