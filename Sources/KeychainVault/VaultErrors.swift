internal import KeychainCredentials

extension KeychainError {
  static let slotsChanged = KeychainError(
    .busy, "the slots changed meanwhile", recovery: "try again")

  static func noSlot(_ number: UInt32) -> Self {
    Self(
      .notFound, "the vault has no slot \(number)",
      recovery: "see the slots with `prefs keychain slots list`")
  }

  static func codeMakesNoVault(_ source: String) -> Self {
    Self(
      .refused, "there is no vault yet, and the recovery code from \(source) can only open one",
      recovery: "make the vault with `prefs keychain init`")
  }

  static func pinnedElsewhere(_ source: String) -> Self {
    Self(
      .refused,
      "there is no vault yet, and the identity from \(source) is pinned to others, "
        + "so it would not open a new one",
      recovery: "make the vault with `prefs keychain init`, then add the recipient with "
        + "`prefs keychain slots add --recipient` and pin the identity with "
        + "`prefs keychain identity pin`")
  }
}
