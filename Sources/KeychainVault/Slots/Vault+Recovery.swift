internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets
public import KeychainVaultFormat
internal import PrephirencesFiles

extension Vault {
  /// Adds a new recovery code for a person to write down.
  ///
  /// The code exists only during this call and cannot be shown again. The grant of the device slot
  /// does not change.
  ///
  /// - Parameters:
  ///   - name: As of ``addPassphraseSlot(_:name:confirm:progress:)``.
  ///   - confirm: Receives the code, shows it, and returns whether it was written down. The time it
  ///     takes does not count against the deadline.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:name:confirm:progress:)``; ``KeychainError`` with
  ///   ``KeychainError/Code/refused`` if this is a shared vault that has a recovery code,
  ///   ``KeychainError/Code/cancelled`` if `confirm` returns `false`, or what it throws. Nothing is
  ///   changed then.
  @discardableResult
  public func addRecoveryCodeSlot(
    name: String = "",
    confirm: (borrowing RecoveryCode) throws(KeychainError) -> Bool
  ) throws(KeychainError) -> VaultSlot {
    let admin = try administration(adding: .recoveryCode, name: name)
    // Don't let a person write down a code that cannot be stored, or for a damaged vault.
    try admin.inspect { change throws(KeychainError) in
      _ = try change.numberForRecoveryCode()
      try change.requireWholePages()
    }
    let input = try admin.session.deadline.excluding { () throws(KeychainError) in
      try Self.confirmedCode(confirm)
    }
    return try admin.change { change throws(KeychainError) in
      let sealed = try change.seal(input, number: try change.numberForRecoveryCode(), name: name)
      change.put(sealed)
      return sealed.described(own: nil)
    }
  }

  /// Adds a recipient, whose identity then opens the vault.
  ///
  /// The grant of the device slot does not change.
  ///
  /// - Parameters:
  ///   - recipient: The public half of the identity.
  ///   - name: As of ``addPassphraseSlot(_:name:confirm:progress:)``.
  ///   - requested: What the recipient may do: ``SlotGrant/readsAndWrites`` by default in a shared
  ///     vault. In another vault, every recipient ``SlotGrant/administers``.
  /// - Returns: The new slot.
  /// - Throws: As ``addPassphraseSlot(_:name:confirm:progress:)``; ``KeychainError`` with
  ///   ``KeychainError/Code/alreadyExists`` if the recipient has a slot,
  ///   ``KeychainError/Code/invalidArgument`` if its key is unusable, or
  ///   ``KeychainError/Code/refused`` if the vault cannot have that grant.
  @discardableResult
  public func addRecipientSlot(
    _ recipient: VaultRecipient, name: String = "", grant requested: SlotGrant? = nil
  ) throws(KeychainError) -> VaultSlot {
    guard recipient.isUsable else {
      throw KeychainError(
        .invalidArgument, "no identity belongs to \(recipient)",
        recovery: "make an identity with \(.createIdentity)")
    }
    let admin = try administration(adding: .recipient, name: name)
    let isShared = admin.list.vaultKind == .shared
    let grant = requested ?? (isShared ? .readsAndWrites : .administers)
    guard grant == .administers || (isShared && grant != .openTier) else {
      throw KeychainError(
        .refused, "a vault that is not shared has only recipients that administer it",
        recovery: "add the recipient without limits, or create a shared vault")
    }
    return try admin.change { change throws(KeychainError) in
      if let slot = change.slots.first(where: { $0.member.recipient == recipient }) {
        throw KeychainError(
          .alreadyExists, "slot \(slot.number) is this recipient's already", recovery: .listSlots)
      }
      let sealed = try change.epoch.seal(
        to: recipient, number: try change.freeNumber(for: .recipient), grant: grant, name: name)
      change.put(sealed)
      return sealed.described(own: nil)
    }
  }
}

extension SlotChange {
  /// Returns the number for a new recovery code; a shared vault has one.
  fileprivate func numberForRecoveryCode() throws(KeychainError) -> UInt32 {
    if list.vaultKind == .shared, let slot = slots.first(where: { $0.kind == .recoveryCode }) {
      throw KeychainError(
        .refused, "a shared vault has one recovery code, which is slot \(slot.number)",
        recovery: "remove it first, with "
          + "\(.removeSlot(number: slot.number, deletingItems: false, withNewKeys: true))")
    }
    return try freeNumber(for: .recoveryCode)
  }
}
