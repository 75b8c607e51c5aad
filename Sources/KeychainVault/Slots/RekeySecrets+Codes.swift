internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension RekeySecrets {
  /// Asks for the recovery codes that did not open the vault themselves.
  ///
  /// - Parameter ask: Receives the slot and the number of wrong answers so far. An empty answer or
  ///   `nil` skips the slot.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/incorrectSecret`` after three wrong
  ///   answers, and what `ask` throws.
  mutating func askForCodes(
    _ ask: (VaultSlot, Int) throws(KeychainError) -> SecretBytes?
  ) throws(KeychainError) {
    for slot in admin.head.slots(.recoveryCode) where kept[slot.number] == nil {
      guard try slot.isMade(byHolderOf: admin.root.bytes) else { continue }
      try askForCode(of: slot, ask)
    }
  }

  private mutating func askForCode(
    of slot: SlotRow, _ ask: (VaultSlot, Int) throws(KeychainError) -> SecretBytes?
  ) throws(KeychainError) {
    let described = slot.described(isThisDevice: nil)
    for attempt in 0..<3 {
      let answer = try admin.session.deadline.excluding { () throws(KeychainError) in
        try ask(described, attempt)
      }
      guard let answer, answer.count > 0 else { return }
      // The checksum finds typing mistakes; ask again, as for a wrong code.
      guard (try? RecoveryCode(text: answer)) != nil else { continue }
      if try keep(slot, openedBy: UnlockSources.recoveryCode(answer, "the prompt")) { return }
    }
    throw KeychainError(
      .incorrectSecret, "the recovery code does not open slot \(slot.number); nothing was changed",
      recovery: .listWhatOpens)
  }
}
