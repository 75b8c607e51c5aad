internal import Foundation
internal import KeychainCredentials

extension VaultRekey {
  /// Adds the first passphrase or key file: the root key that the device secret knows is given up,
  /// and the device slot opens tier T0 only.
  func addFirstSecret(_ input: borrowing SlotInput) throws(KeychainError) -> SlotRow {
    try run { change throws(KeychainError) -> Decision<SlotRow> in
      try change.requireTrustedSlots()
      let (own, recipients) = try slotsToCarry(change)
      let slot = try seal(input, number: try change.freeNumber(for: input.kind))
      var slots = [try carry(own, grant: .openTier), slot]
      for recipient in recipients { slots.append(try carry(recipient, grant: .root)) }
      return Decision(slots: slots, result: slot)
    }
  }

  /// This device's slot, and those of recipients, whose macs were checked; others would hold the old
  /// root key, and their secrets are not here.
  private func slotsToCarry(
    _ change: borrowing SlotChange
  ) throws(KeychainError) -> (own: SlotRow, recipients: [SlotRow]) {
    let number = try admin.session.unlocker.device.slot(admin.head)?.number
    var rest = try change.slots()
    let recipients = rest.filter { $0.recipient?.isUsable ?? false }
    rest.removeAll { recipients.contains($0) }
    let own = rest.first { $0.number == number }
    rest.removeAll { $0.number == number }
    guard rest.isEmpty else { throw Self.notCarried(rest) }
    guard let own else { throw .slotsChanged }
    return (own, recipients)
  }

  private static func notCarried(_ slots: [SlotRow]) -> KeychainError {
    let names = slots.map { "\($0.number) (\($0.kind))" }.joined(separator: ", ")
    return KeychainError(
      .refused,
      "the vault gets a new root key, and the slots \(names) cannot be carried over",
      recovery: "remove them with `prefs keychain slots remove`, and add them again afterwards; "
        + "for a recovery code, `prefs keychain recovery create` makes a new one")
  }
}
