internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Adds a new recovery code for a person to write down.
  ///
  /// The code exists only during this call and cannot be shown again. The grant of the device slot
  /// does not change.
  ///
  /// - Parameters:
  ///   - progress: Called from time to time with the progress of the verification after `confirm`.
  ///     The vault is verified before `confirm`, too.
  ///   - confirm: Receives the code, shows it, and returns whether it was written down. The time it
  ///     takes does not count against the deadline.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:keepingRecipient:progress:)``; ``KeychainError`` with
  ///   ``KeychainError/Code/cancelled`` if `confirm` returns `false`, or what it throws. Nothing is
  ///   changed then.
  @discardableResult
  public func addRecoveryCodeSlot(
    progress: ((VaultProgress) -> Void)? = nil,
    confirm: (borrowing RecoveryCode) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration()
    // Don't let a person write down a code that cannot be stored, or for a damaged vault.
    try admin.requireIntact()
    try admin.inspect { change throws(KeychainError) in
      _ = try change.freeNumber(for: .recoveryCode)
    }
    let code = try RecoveryCode.random()
    let isWrittenDown = try admin.session.deadline.excluding { () throws(KeychainError) in
      try confirm(code)
    }
    guard isWrittenDown else {
      throw KeychainError(.cancelled, "the recovery code was not confirmed; nothing was changed")
    }
    let input = try SlotInput.recoveryCode(code)
    let slot = try admin.change(progress: progress) { change throws(KeychainError) in
      let number = try change.freeNumber(for: .recoveryCode)
      let slot = try SlotSealing.seal(
        input, number: number, grant: .root, granted: change.root.bytes, root: change.root.bytes)
      try change.writer.put(slot)
      return slot
    }
    return slot.described(isThisDevice: nil)
  }

  /// Adds a recipient, whose identity then opens the vault.
  ///
  /// The grant of the device slot does not change.
  ///
  /// - Parameters:
  ///   - recipient: The public half of the identity.
  ///   - progress: Called from time to time with the progress of the verification.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:keepingRecipient:progress:)``; ``KeychainError`` with
  ///   ``KeychainError/Code/alreadyExists`` if the recipient has a slot, or
  ///   ``KeychainError/Code/invalidArgument`` if its key is unusable.
  @discardableResult
  public func addRecipientSlot(
    _ recipient: VaultRecipient, progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VaultSlot {
    let slot = try administration().change(progress: progress) { change throws(KeychainError) in
      let slots = try change.slots()
      if let slot = slots.first(where: {
        $0.kind == .recipient && $0.parameters == recipient.publicKey
      }) {
        throw KeychainError(.alreadyExists, "slot \(slot.number) is this recipient's already")
      }
      let slot = try SlotSealing.seal(
        to: recipient, number: try change.freeNumber(for: .recipient), root: change.root.bytes)
      try change.writer.put(slot)
      return slot
    }
    return slot.described(isThisDevice: nil)
  }
}
