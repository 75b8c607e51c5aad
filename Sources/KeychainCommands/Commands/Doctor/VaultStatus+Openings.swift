internal import KeychainVault

extension VaultStatus {
  /// The slots that open everything.
  var fullSlots: [VaultSlot] { slots.filter { $0.grant == .root } }

  /// Whether something opens the whole vault: the device key that lies here, or what a person has.
  var canBeOpened: Bool {
    fullSlots.contains { $0.kind != .device || $0.isThisDevice == true }
  }
}
