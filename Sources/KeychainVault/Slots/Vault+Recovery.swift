internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Adds a recovery code: a new one, which somebody writes down.
  ///
  /// The code exists only while this runs, and cannot be shown again. What a device secret opens stays
  /// as it is.
  ///
  /// - Parameters:
  ///   - progress: Is told now and then how far the verification has come that follows `confirm`; the
  ///     vault is verified before it, too.
  ///   - confirm: Is given the code, to show it, and answers whether it was written down. A
  ///     person's pace is no part of the deadline.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:keepingRecipient:progress:)``; ``KeychainError`` with ``KeychainError/Code/cancelled`` if
  ///   `confirm` says no, or what it throws: nothing is changed then.
  @discardableResult
  public func addRecoveryCodeSlot(
    progress: ((VaultProgress) -> Void)? = nil,
    confirm: (borrowing RecoveryCode) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration()
    // Nobody should write down a code for which there is no place, or for a vault that is damaged.
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

  /// Adds a recipient: whoever has the identity opens the vault.
  ///
  /// What a device secret opens stays as it is.
  ///
  /// - Parameters:
  ///   - recipient: The public half of the identity.
  ///   - progress: Is told now and then how far the verification has come.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:keepingRecipient:progress:)``; ``KeychainError`` with ``KeychainError/Code/alreadyExists`` if
  ///   the recipient has a slot, or ``KeychainError/Code/invalidArgument`` if its key is no usable one.
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
