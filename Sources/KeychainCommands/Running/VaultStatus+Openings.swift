internal import KeychainVault

extension VaultStatus {
  /// The slots that open everything.
  var fullSlots: [VaultSlot] { slots.filter { $0.grant == .root } }

  /// Whether something opens the whole vault: the device key that lies here, or what a person has.
  var canBeOpened: Bool {
    fullSlots.contains { $0.kind != .device || $0.isThisDevice == true }
  }
}

extension [VaultSlot] {
  /// Whether the device key that lies here opens more once a slot is gone, as nothing that a person or
  /// service was given for daily use is left.
  func leaveOnlyTheDevice(without number: UInt32) -> Bool {
    let rest = filter { $0.number != number }
    let isDaily = { (slot: VaultSlot) in
      slot.grant == .root && [.passphrase, .keyFile, .recipient].contains(slot.kind)
    }
    return !rest.contains(where: isDaily)
      && rest.contains { $0.isThisDevice == true && $0.grant == .openTier }
  }
}
