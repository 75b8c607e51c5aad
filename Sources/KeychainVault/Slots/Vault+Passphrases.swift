internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Changes a passphrase in place: its slot keeps its number, and no item is changed.
  ///
  /// The slot is the one named, else the one that the passphrase at hand opens, else the only one
  /// there is: whoever opens the vault by a key file, a recovery code or an identity can so replace a
  /// passphrase that is forgotten. The new one gets the cost that new slots get.
  ///
  /// Copies of the vault made before still open with the old passphrase, and give the keys that this
  /// one goes on to have; those ends
  /// ``rekey(removing:deletingItems:keeping:asking:keepingRecipient:confirm:progress:)``. As every change
  /// of slots, this verifies the whole vault first, which takes the longer the more items there are.
  ///
  /// - Parameters:
  ///   - passphrase: The new passphrase, not empty.
  ///   - number: The number of the slot; `nil` for the one that is meant as above.
  ///   - progress: Is told now and then how far the verification has come.
  /// - Returns: The slot.
  /// - Throws: ``KeychainError``, as every change of slots: with ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if no secret at hand opens the root key, or
  ///   ``KeychainError/Code/damaged`` if the vault is not intact; also with
  ///   ``KeychainError/Code/notFound`` if there is no such slot, ``KeychainError/Code/ambiguous`` if
  ///   several may be meant, ``KeychainError/Code/refused`` if there is none or it is no passphrase, or
  ///   ``KeychainError/Code/busy`` if somebody else changed it meanwhile.
  @discardableResult
  public func changePassphrase(
    to passphrase: borrowing SecretBytes, slot number: UInt32? = nil,
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration()
    let slot = try passphraseSlot(number, admin)
    return try replace(slot, by: passphrase, admin, progress)
  }

  /// Changes a passphrase in place, as ``changePassphrase(to:slot:progress:)``, which is asked for when the
  /// vault has been opened.
  ///
  /// - Parameters:
  ///   - number: The number of the slot; `nil` for the one that is meant.
  ///   - progress: Is told now and then how far the verification has come that follows `ask`; the vault
  ///     is verified before it, too.
  ///   - ask: Is told the slot, and returns the new passphrase; a person's pace is no part of the
  ///     deadline.
  /// - Returns: The slot.
  /// - Throws: As ``changePassphrase(to:slot:progress:)``, and what `ask` throws.
  @discardableResult
  public func changePassphrase(
    slot number: UInt32? = nil, progress: ((VaultProgress) -> Void)? = nil,
    asking ask: (VaultSlot) throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration()
    let slot = try passphraseSlot(number, admin)
    // Nobody should choose a passphrase for a vault that is damaged.
    try admin.requireIntact()
    let passphrase = try admin.session.deadline.excluding { () throws(KeychainError) in
      try ask(slot.described(isThisDevice: nil))
    }
    return try replace(slot, by: passphrase, admin, progress)
  }

  private func passphraseSlot(
    _ number: UInt32?, _ admin: VaultAdministration
  ) throws(KeychainError) -> SlotRow {
    if let number {
      guard let slot = admin.head.slots.intact.first(where: { $0.number == number }) else {
        throw .noSlot(number)
      }
      guard slot.kind == .passphrase else {
        throw KeychainError(
          .refused, "slot \(number) is no passphrase, but a \(slot.kind)",
          recovery: .listSlots)
      }
      return slot
    }
    let opener = admin.opener.slot
    if opener.kind == .passphrase { return opener }
    let slots = admin.head.slots(.passphrase)
    guard let only = slots.first else {
      throw KeychainError(
        .refused, "the vault has no passphrase to change",
        recovery: .addPassphrase)
    }
    guard slots.count == 1 else {
      let numbers = slots.map { "\($0.number)" }.joined(separator: ", ")
      throw KeychainError(
        .ambiguous, "the vault has \(slots.count) passphrases, in slots \(numbers)",
        recovery: "name the slot, with \(.nameSlot)")
    }
    return only
  }

  private func replace(
    _ old: SlotRow, by passphrase: borrowing SecretBytes, _ admin: VaultAdministration,
    _ progress: ((VaultProgress) -> Void)?
  ) throws(KeychainError) -> VaultSlot {
    let input = try slotInput(passphrase: passphrase, in: admin.session)
    let slot = try admin.change(progress: progress) { change throws(KeychainError) in
      guard try change.slots().contains(old) else { throw .slotsChanged }
      let slot = try SlotSealing.seal(
        input, number: old.number, grant: .root, granted: change.root.bytes,
        root: change.root.bytes)
      try change.writer.remove(old)
      try change.writer.put(slot)
      return slot
    }
    return slot.described(isThisDevice: nil)
  }

  /// Prepares a passphrase slot; the time that its hash takes is no part of the deadline.
  func slotInput(
    passphrase: borrowing SecretBytes, in session: VaultSession
  ) throws(KeychainError) -> SlotInput {
    try session.deadline.excluding { () throws(KeychainError) in
      try slotInput(passphrase: passphrase)
    }
  }
}
