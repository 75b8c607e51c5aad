/// How a slot is opened.
public enum SlotKind: UInt8, CaseIterable, Hashable, Sendable {
  /// By a passphrase, through Argon2id.
  case passphrase = 1

  /// By the contents of a key file.
  case keyFile = 2

  /// By the device secret in the state folder.
  case device = 3

  /// By a recovery code.
  case recoveryCode = 4

  /// By the private key of an identity.
  case recipient = 5
}

extension SlotKind: CustomStringConvertible {
  /// The kind in words.
  public var description: String {
    switch self {
    case .passphrase: "passphrase"
    case .keyFile: "key file"
    case .device: "device"
    case .recoveryCode: "recovery code"
    case .recipient: "recipient"
    }
  }
}

/// What a slot gives to whoever opens it.
public enum SlotGrant: UInt8, Hashable, Sendable {
  /// Everything, and the right to change slots.
  case root = 1

  /// Indexes and the items that need no unlock.
  case openTier = 2
}
