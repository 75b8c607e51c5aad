internal import KeychainCredentials
internal import KeychainVault

/// The failures of commands that look at the whole vault.
extension KeychainError {
  static func vaultExists(_ path: String) -> Self {
    Self(
      .alreadyExists, "there is a vault at '\(path)'",
      recovery: "see it with '\(KeychainCommandContext.current.commandPath) status', or let more "
        + "open it with '\(KeychainCommandContext.current.commandPath) slots add'")
  }

  static func vaultIsGone(_ path: String) -> Self {
    Self(
      .noStore, "'\(path)' was here before and is gone",
      recovery: "mount its volume, restore a backup, or start anew with "
        + "'\(KeychainCommandContext.current.commandPath) init --start-anew'")
  }

  static func nothingOpens(_ status: VaultStatus) -> Self {
    Self(
      .locked, "nothing that is here opens '\(status.path)'",
      recovery: UserInterface.wayBack(status))
  }

  static func noSlot(_ number: UInt32) -> Self {
    Self(
      .notFound, "the vault has no slot \(number)",
      recovery: "see the slots with '\(KeychainCommandContext.current.commandPath) slots list'")
  }

  static func noSlot(of recipient: VaultRecipient) -> Self {
    Self(
      .notFound, "the vault has no slot of the recipient \(recipient)",
      recovery: "see the slots with '\(KeychainCommandContext.current.commandPath) slots list'")
  }

  static let wouldLoseSomething = KeychainError(
    .invalidArgument,
    "new keys would lose the above, and there is no terminal to ask, or asking is turned off",
    recovery:
      "keep slots with --keep-passphrase-file, --keep-key-file, --keep-recovery-code-file or "
      + "--keep-recipient, or add --yes to let them go")

  static let noKeyFile = KeychainError(.internalFailure, "no key file was named")
}
