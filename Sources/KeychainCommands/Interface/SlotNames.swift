internal import KeychainVault

/// What slots are called.
enum SlotNames {
  /// What a slot is; without a device key, whether it is this machine's is not known.
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

  /// What a slot is, with the recipient, as there may be several.
  static func label(of slot: VaultSlot, deviceKeyExists: Bool = true) -> String {
    name(of: slot, deviceKeyExists: deviceKeyExists) + (slot.recipient.map { " \($0)" } ?? "")
  }
}
