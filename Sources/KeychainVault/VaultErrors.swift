internal import KeychainCredentials
internal import KeychainSecrets

extension KeychainError {
  static func damagedItem(_ name: String) -> Self {
    Self(
      .damaged, "\(name) is damaged or was changed outside the vault",
      recovery:
        "run \(.verify) for the whole picture, and restore the item from a backup")
  }

  /// That the file is damaged as a whole, and why.
  static func damagedVault(_ path: String, _ reason: String) -> Self {
    Self(.damaged, "the vault \(path) is damaged: \(reason)", recovery: .restoreBackup)
  }

  static func strangeSlot(_ number: UInt32) -> Self {
    Self(
      .damaged, "slot \(number) of the vault opens, but to another vault's key",
      recovery: .restoreBackup)
  }

  static func otherDevice(_ name: String) -> Self {
    Self(
      .otherDevice, "\(name) is bound to another device",
      recovery: "read it on the machine that stored it, or bring that machine's device.key along; "
        + "if that is gone for good, \(.rekey) deletes what only it could read")
  }

  static func locked(_ name: String) -> Self {
    Self(
      .locked, "the vault is locked for \(name)",
      recovery: Vault.canStayUnlocked
        ? .unlockOrGivePassphrase
        : "give what unlocks the vault, by KEYCHAIN_KEY_FILE or KEYCHAIN_PASSPHRASE_FILE")
  }

  static func forgedSlot(
    _ number: UInt32, recovery: Recovery = "restore a backup from before it appeared"
  ) -> Self {
    Self(
      .damaged, "slot \(number) was not made by a holder of the vault's root key",
      recovery: recovery)
  }

  static let slotsChanged = KeychainError(
    .busy, "the slots changed meanwhile", recovery: .tryAgain)

  static func noSlot(_ number: UInt32) -> Self {
    Self(
      .notFound, "the vault has no slot \(number)",
      recovery: .listSlots)
  }

  static func codeMakesNoVault(_ source: String) -> Self {
    Self(
      .refused, "there is no vault yet, and the recovery code from \(source) can only open one",
      recovery: .createVault)
  }

  static func pinnedElsewhere(_ source: String) -> Self {
    Self(
      .refused,
      "there is no vault yet, and the identity from \(source) is pinned to others, "
        + "so it would not open a new one",
      recovery: .createVault + ", then add the recipient with \(.addSlot(.identity)) and pin the "
        + "identity with \(.pinIdentity(check: nil))")
  }

  static func passwordHashMemory(_ parameters: PasswordHash.Parameters) -> Self {
    Self(
      .insufficientMemory,
      "there is not enough memory to check the passphrase: \(parameters.memory >> 20) MiB are needed",
      recovery:
        "free memory, or raise the limit of the container; or unlock by a key file, which needs no "
        + "more than any command: 32 random bytes, named by KEYCHAIN_KEY_FILE, or as keychain.key in "
        + "$CREDENTIALS_DIRECTORY")
  }
}
