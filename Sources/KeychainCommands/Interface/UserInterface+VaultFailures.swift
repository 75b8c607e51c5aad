internal import KeychainCredentials
internal import KeychainVault

/// The failures of commands that look at the whole vault.
extension KeychainError {
  static func vaultExists(_ path: String) -> Self {
    Self(
      .alreadyExists, "there is a vault at '\(path)'",
      recovery: .showOrAddSlot)
  }

  static func vaultIsGone(_ path: String) -> Self {
    Self(
      .noStore, "'\(path)' was here before and is gone",
      recovery: "mount its volume, restore a backup, or start anew with "
        + "\(.createVault(startingAnew: true))")
  }

  static func nothingOpens(_ status: VaultStatus) -> Self {
    Self(
      .locked, "nothing that is here opens '\(status.path)'",
      recovery: .advice(UserInterface.wayBack(status)))
  }

  static func noSlot(_ number: UInt32) -> Self {
    Self(
      .notFound, "the vault has no slot \(number)",
      recovery: .listSlots)
  }

  static func noSlot(of recipient: VaultRecipient) -> Self {
    Self(
      .notFound, "the vault has no slot of the recipient \(recipient)",
      recovery: .listSlots)
  }

  static let wouldLoseSomething = KeychainError(
    .invalidArgument,
    "new keys would lose the above, and there is no terminal to ask, or asking is turned off",
    recovery:
      "keep slots with \(.keepSlot(nil)), or add --yes to let them go")

  static let noKeyFile = KeychainError(.internalFailure, "no key file was named")
}
