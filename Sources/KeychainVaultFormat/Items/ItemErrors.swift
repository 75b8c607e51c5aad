package import KeychainCredentials

extension KeychainError {
  package static func damagedItem(_ name: String) -> Self {
    Self(
      .damaged, "\(name) is damaged or was changed outside the vault",
      recovery:
        "see all problems with \(.verify), and restore the item from a backup")
  }

  package static func otherDevice(_ name: String) -> Self {
    Self(
      .otherDevice, "\(name) is bound to another device",
      recovery: "read it on the machine that stored it, or copy that machine's device.key; "
        + "if that is gone for good, \(.rekey) deletes what only it could read")
  }

  package static func locked(_ name: String) -> Self {
    Self(
      .locked, "the vault is locked for \(name)",
      recovery: .unlockOrGivePassphrase)
  }
}
