internal import KeychainVault

/// The names of slots.
enum SlotNames {
  /// Returns the kind of a slot; without a device key, it is not known whether a slot is this
  /// machine's.
  static func name(of slot: VaultSlot, deviceKeyExists: Bool = true) -> String {
    switch slot.kind {
    case .passphrase: "passphrase"
    case .keyFile: "key file"
    case .device where slot.isThisDevice == true: "device (this one)"
    case .device where !deviceKeyExists: "device (its device.key is missing)"
    case .device: "device (another one)"
    case .recoveryCode: "recovery code"
    case .recipient: "recipient"
    }
  }

  /// Returns the kind of a slot with what people call it, and the fingerprint of its recipient.
  static func label(of slot: VaultSlot, deviceKeyExists: Bool = true) -> String {
    called(slot, deviceKeyExists: deviceKeyExists)
      + (slot.recipient.map { " (fingerprint \($0.fingerprint))" } ?? "")
  }

  /// Returns the kind of a slot with what people call it.
  static func called(_ slot: VaultSlot, deviceKeyExists: Bool = true) -> String {
    name(of: slot, deviceKeyExists: deviceKeyExists)
      + (slot.name.isEmpty ? "" : " '\(slot.name)'")
  }
}
