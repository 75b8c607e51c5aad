internal import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Changes a passphrase in place: its slot keeps its number, and no item is changed.
  ///
  /// The slot is the given one, or the slot that the current passphrase opens, or the only
  /// passphrase slot. So a forgotten passphrase can be replaced by opening the vault with a key
  /// file, a recovery code or an identity. The new passphrase is hashed at the cost of new slots.
  ///
  /// Earlier copies of the vault still open with the old passphrase and contain the same keys. To
  /// replace those keys, use ``rekey(removing:deletingItems:newAdministrationKey:droppingDamaged:confirm:progress:)``.
  /// Like every change of slots, this verifies the whole vault first, which takes longer the more
  /// items there are.
  ///
  /// - Parameters:
  ///   - passphrase: The new passphrase, not empty.
  ///   - number: The number of the slot; `nil` to choose it as described above.
  /// - Returns: The slot.
  /// - Throws: ``KeychainError``, like every change of slots: ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/incorrectSecret`` if no secret at hand opens the root key,
  ///   ``KeychainError/Code/damaged`` if the vault is not intact. Also
  ///   ``KeychainError/Code/notFound`` if there is no such slot, ``KeychainError/Code/ambiguous``
  ///   if there are several passphrases, ``KeychainError/Code/refused`` if there is no passphrase
  ///   or the slot is of another kind, or ``KeychainError/Code/busy`` if another process changed
  ///   the slot meanwhile.
  @discardableResult
  public func changePassphrase(
    to passphrase: borrowing SecretBytes, slot number: UInt32? = nil
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration()
    let slot = try passphraseSlot(number, admin)
    return try replace(slot, by: passphrase, admin)
  }

  /// Changes a passphrase in place as ``changePassphrase(to:slot:)`` does, and asks for it
  /// after the vault was opened.
  ///
  /// - Parameters:
  ///   - number: The number of the slot; `nil` to choose it.
  ///   - ask: Receives the slot and returns the new passphrase. The time it takes does not count
  ///     against the deadline.
  /// - Returns: The slot.
  /// - Throws: As ``changePassphrase(to:slot:)``, and what `ask` throws.
  @discardableResult
  public func changePassphrase(
    slot number: UInt32? = nil,
    asking ask: (VaultSlot) throws(KeychainError) -> SecretBytes
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration()
    let slot = try passphraseSlot(number, admin)
    // Don't let a person choose a passphrase for a damaged vault.
    try admin.requireChangeable()
    let passphrase = try admin.session.deadline.excluding { () throws(KeychainError) in
      try ask(slot.described(isThisDevice: nil, member: admin.list.member(slot.number)))
    }
    return try replace(slot, by: passphrase, admin)
  }

  private func passphraseSlot(
    _ number: UInt32?, _ admin: VaultAdministration
  ) throws(KeychainError) -> SlotRow {
    let listed = try admin.list.rows(in: admin.head).map(\.slot)
    if let number {
      guard let slot = listed.first(where: { $0.number == number }) else { throw .noSlot(number) }
      guard slot.kind == .passphrase else {
        throw KeychainError(
          .refused, "slot \(number) is no passphrase, but a \(slot.kind)",
          recovery: .listSlots)
      }
      return slot
    }
    let opener = admin.opener.opened.slot
    if opener.kind == .passphrase { return opener }
    let slots = listed.filter { $0.kind == .passphrase }
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
    _ old: SlotRow, by passphrase: borrowing SecretBytes, _ admin: VaultAdministration
  ) throws(KeychainError) -> VaultSlot {
    let input = try slotInput(passphrase: passphrase, in: admin.session)
    return try admin.change { change throws(KeychainError) in
      guard let slot = change.slots.first(where: { $0.slot == old }) else { throw .slotsChanged }
      let sealed = try change.seal(input, number: old.number, name: slot.member.name)
      change.put(sealed)
      return sealed.described(own: nil)
    }
  }

  /// Prepares a passphrase slot.
  ///
  /// The time of its hash does not count against the deadline.
  func slotInput(
    passphrase: borrowing SecretBytes, in session: VaultSession
  ) throws(KeychainError) -> SlotInput {
    try session.deadline.excluding { () throws(KeychainError) in
      try slotInput(passphrase: passphrase)
    }
  }
}
