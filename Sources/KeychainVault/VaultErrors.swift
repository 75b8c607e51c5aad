internal import KeychainCredentials

extension KeychainError {
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
}
