internal import KeychainCredentials
internal import KeychainVault

/// What is said about new passphrases and new keys.
extension UserInterface {
  static func changedPassphrase(_ slot: VaultSlot) -> String {
    "changed the passphrase of slot \(slot.number)"
  }

  static var copiesKeepThePassphrase: String {
    "copies of the vault made before still open with the old passphrase, and hold the keys of this "
      + "one; if somebody may have both, run '\(KeychainCommandContext.current.commandPath) rekey'"
  }
}
