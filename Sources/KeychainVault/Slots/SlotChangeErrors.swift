package import KeychainCredentials

extension KeychainError {
  static let slotsChanged = KeychainError(
    .busy, "the slots changed meanwhile", recovery: .tryAgain)

  package static func noSlot(_ number: UInt32) -> Self {
    Self(.notFound, "the vault has no slot \(number)", recovery: .listSlots)
  }
}
