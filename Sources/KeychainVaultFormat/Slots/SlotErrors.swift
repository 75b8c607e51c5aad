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
      .damaged,
      "slot \(number) of the vault opens, but to a key of another vault or an older epoch",
      recovery: .restoreBackup)
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
