internal import KeychainCredentials
internal import KeychainVaultFormat

/// The slots that open a vault after a change, and what follows from them.
///
/// All of them were made by a holder of the root key; other slots open nothing.
struct RemainingSlots {
  let slots: [SlotRow]

  var hasPassphrase: Bool { slots.contains { $0.kind == .passphrase } }

  /// Returns this device's slot if it must open everything because no daily key is left.
  ///
  /// - Parameters:
  ///   - ownSlot: The number of this device's slot.
  ///   - recovery: What to do if nothing would be left that opens the vault.
  /// - Returns: The slot, or `nil` if it stays unchanged.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if nothing would be left.
  func deviceToPromote(
    _ ownSlot: UInt32?, orElse recovery: KeychainError.Recovery
  ) throws(KeychainError) -> SlotRow? {
    guard !slots.contains(where: \.isDailyKey) else { return nil }
    guard let own = slots.first(where: { $0.number == ownSlot }) else {
      // Nobody knows here whether another device still has its secret.
      guard slots.contains(where: { $0.kind == .recoveryCode }) else {
        throw KeychainError(.refused, "nothing else would open the vault", recovery: recovery)
      }
      return nil
    }
    return own.grant == .root ? nil : own
  }
}
