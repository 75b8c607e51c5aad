internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

extension VaultRekey {
  /// Adds the first passphrase or key file: replaces the root key that the device secret opens, and
  /// limits the device slot to tier T0.
  ///
  /// A recovery code is kept if it opened the vault now, and a recipient if a person confirmed it.
  func addFirstSecret(
    _ input: borrowing SlotInput, keeping secrets: RekeySecrets
  ) throws(KeychainError) -> SlotRow {
    try run { change throws(KeychainError) -> Decision<SlotRow> in
      try change.requireTrustedSlots()
      let (own, recipients) = try slotsToCarry(change, secrets)
      let slot = try seal(input, number: try change.freeNumber(for: input.kind))
      var slots = [try carry(own, grant: .openTier), slot]
      for recipient in recipients { slots.append(try carry(recipient, grant: .root)) }
      for (number, kept) in secrets.kept { slots.append(try seal(kept.input, number: number)) }
      return Decision(slots: slots, result: slot)
    }
  }

  /// Returns this device's slot, and those of confirmed recipients.
  ///
  /// Fails if another slot is left that is not kept: it would hold the old root key, and its secret
  /// is not here.
  private func slotsToCarry(
    _ change: borrowing SlotChange, _ secrets: RekeySecrets
  ) throws(KeychainError) -> (own: SlotRow, recipients: [SlotRow]) {
    let number = try admin.session.unlocker.device.slot(admin.head)?.number
    var rest = try change.slots()
    let recipients = rest.filter(secrets.recipients.contains)
    guard recipients.count == secrets.recipients.count else { throw .slotsChanged }
    rest.removeAll { recipients.contains($0) || secrets.kept[$0.number]?.slot == $0 }
    let own = rest.first { $0.number == number }
    rest.removeAll { $0.number == number }
    guard rest.isEmpty else { throw Self.notCarried(rest) }
    guard let own else { throw .slotsChanged }
    return (own, recipients)
  }

  /// Fails if a slot is left that would not get the new keys, except those of `exempt` kinds.
  ///
  /// It only looks at the slots, before a person chooses a passphrase.
  static func requireCarried(
    _ admin: VaultAdministration, _ secrets: RekeySecrets, except exempt: Set<SlotKind> = []
  ) throws(KeychainError) {
    let own = try admin.session.unlocker.device.slot(admin.head)?.number
    let rest = admin.head.slots.intact.filter { slot in
      slot.number != own && !exempt.contains(slot.kind) && !secrets.recipients.contains(slot)
        && secrets.kept[slot.number]?.slot != slot
    }
    guard rest.isEmpty else { throw notCarried(rest) }
  }

  private static func notCarried(_ slots: [SlotRow]) -> KeychainError {
    let names = slots.map { slot in
      "\(slot.number) (\(slot.kind)\(slot.recipient.map { " \($0)" } ?? ""))"
    }.joined(separator: ", ")
    let what = slots.count == 1 ? "slot" : "slots"
    return KeychainError(
      .refused,
      "the first passphrase or key file gives the vault new keys, and \(what) \(names) "
        + "would not get them",
      recovery: ways(slots))
  }

  /// What keeps a slot comes first: removing a code makes the paper with it worthless.
  private static func ways(_ slots: [SlotRow]) -> KeychainError.Recovery? {
    let removals = slots.map { slot -> KeychainError.Recovery in
      "\(.removeSlot(number: slot.number, deletingItems: false, withNewKeys: false))"
    }
    let keeping: [KeychainError.Recovery?] = [
      slots.contains { $0.kind == .recoveryCode }
        ? "keep the recovery code: type it when a terminal asks for it, or give it with "
          + "\(.giveKey(.recoveryCode))" : nil,
      slots.contains { $0.kind == .recipient }
        ? "keep a recipient with \(.keepSlot(.identity))" : nil,
    ]
    let kept = keeping.compactMap(\.self)
    let removing = removals.joined(separator: ", ").map { names in
      "\(kept.isEmpty ? "" : "or ")remove \(slots.count == 1 ? "it" : "them") first, with " + names
    }
    return (kept + [removing].compactMap(\.self)).joined(separator: "; ")
  }
}
