public import KeychainSecrets

/// How a slot is opened.
@nonexhaustive public enum SlotKind: UInt8, CaseIterable, Hashable, Sendable {
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

  /// Whether a slot of this kind limits device slots: that is the purpose of a passphrase or key
  /// file.
  package var cutsDevices: Bool { self == .passphrase || self == .keyFile }

  /// Whether a slot of this kind has a key that signs.
  package var signs: Bool { self == .recipient || self == .recoveryCode }
}

/// What a slot gives to its opener.
@nonexhaustive public enum SlotGrant: UInt8, CaseIterable, Hashable, Sendable {
  /// Everything, and the right to change who opens the vault.
  case administers = 1

  /// The indexes, and the items that need no unlock.
  case openTier = 2

  /// All items of a shared vault, for reading and writing.
  case readsAndWrites = 3

  /// All items of a shared vault, for reading.
  case reads = 4

  package var keyCount: Int {
    switch self {
    case .administers, .openTier: 32
    case .readsAndWrites, .reads: 96
    }
  }

  /// Whether it gives the keys of every item.
  package var opensEverything: Bool { self != .openTier }
}

extension SlotGrant: CustomStringConvertible {
  /// The grant in words.
  public var description: String {
    switch self {
    case .administers: "administers"
    case .openTier: "opens what needs no unlock"
    case .readsAndWrites: "reads and writes"
    case .reads: "reads"
    }
  }
}

/// One way to open a vault.
public struct VaultSlot: Hashable, Sendable {
  /// The number of the slot, which the vault never uses again.
  public let number: UInt32

  /// How it is opened.
  public let kind: SlotKind

  /// What it gives.
  public let grant: SlotGrant

  /// The cost of the passphrase hash; `nil` for other kinds.
  public let passwordHash: PasswordHash.Parameters?

  /// Whether it is the slot of this device; `nil` for other kinds.
  public let isThisDevice: Bool?

  /// The recipient whose identity opens the slot; `nil` for other kinds, or if the list of members
  /// cannot be read.
  public let recipient: VaultRecipient?

  /// The name that people gave it; empty without one, or if the list of members cannot be read.
  public let name: String

  package init(
    number: UInt32, kind: SlotKind, grant: SlotGrant, passwordHash: PasswordHash.Parameters?,
    isThisDevice: Bool?, recipient: VaultRecipient? = nil, name: String = ""
  ) {
    self.number = number
    self.kind = kind
    self.grant = grant
    self.passwordHash = passwordHash
    self.isThisDevice = isThisDevice
    self.recipient = recipient
    self.name = name
  }
}
