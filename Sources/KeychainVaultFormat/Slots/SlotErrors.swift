package import KeychainCredentials
package import KeychainSecrets

extension KeychainError {
  package static func damagedSlot(_ number: UInt32) -> Self {
    Self(
      .damaged, "slot \(number) of the vault is damaged",
      recovery: "another slot may open the vault; to change slots, restore a backup")
  }

  package static func strangeSlot(_ number: UInt32) -> Self {
    Self(
      .damaged, "slot \(number) of the vault opens, but to another vault's key",
      recovery: .restoreBackup)
  }

  package static func forgedSlot(
    _ number: UInt32, recovery: Recovery = "restore a backup from before it appeared"
  ) -> Self {
    Self(
      .damaged, "slot \(number) was not made by a holder of the vault's root key",
      recovery: recovery)
  }

  package static func passwordHashMemory(_ parameters: PasswordHash.Parameters) -> Self {
    Self(
      .insufficientMemory,
      "there is not enough memory to check the passphrase: \(parameters.memory >> 20) MiB are needed",
      recovery:
        "free memory, or raise the limit of the container; or unlock with a key file, which needs no "
        + "more than any command: 32 random bytes, named by KEYCHAIN_KEY_FILE, or as keychain.key in "
        + "$CREDENTIALS_DIRECTORY")
  }
}
