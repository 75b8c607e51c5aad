/// When a credential can be read, and whether it may leave the machine.
///
/// In the vault each value is a key of its own, not a label: see ``unlockRequirement`` and the
/// page Documentation/Stores.md.
@nonexhaustive public enum Accessibility: UInt8, CaseIterable, Hashable, Sendable {
  /// Readable while the store is unlocked, until it is locked or idle for too long; the default.
  case whenUnlocked = 0

  /// Like ``whenUnlocked``, but never exported; a copy of the vault alone does not open it.
  case whenUnlockedThisDeviceOnly = 1

  /// From the first unlock after boot until the next boot, even while the store is locked.
  case afterFirstUnlock = 2

  /// Like ``afterFirstUnlock``, but never exported; a copy of the vault alone does not open it.
  case afterFirstUnlockThisDeviceOnly = 3

  /// Readable without any unlock: protected from other users of the machine, but not from whoever
  /// has the disk.
  case always = 4

  /// Like ``always``, but never exported; a copy of the vault alone does not open it.
  case alwaysThisDeviceOnly = 5

  /// Like ``whenUnlockedThisDeviceOnly``, but only in a store that has a passphrase.
  case whenPasscodeSetThisDeviceOnly = 6

  /// Whether items of this accessibility stay on this machine.
  ///
  /// They are never exported, and are also bound to the machine's device secret.
  public var isThisDeviceOnly: Bool {
    switch self {
    case .whenUnlocked, .afterFirstUnlock, .always: false
    case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
      .whenPasscodeSetThisDeviceOnly:
      true
    }
  }

  /// The unlock state that is needed to read an item of this accessibility.
  public var unlockRequirement: UnlockRequirement {
    switch self {
    case .always, .alwaysThisDeviceOnly: .nothing
    case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .unlockedSinceBoot
    case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .unlockedNow
    }
  }

  /// The unlock states that accessibilities need, from the weakest to the strongest.
  @nonexhaustive public enum UnlockRequirement: Int, Comparable, Hashable, Sendable {
    /// Readable without any unlock.
    case nothing

    /// Readable once the store was unlocked since boot.
    case unlockedSinceBoot

    /// Readable while the store is unlocked.
    case unlockedNow

    /// Orders the states by strength.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }
}

extension Accessibility: CustomStringConvertible, LosslessStringConvertible {
  /// The name on the command line.
  public var description: String {
    switch self {
    case .whenUnlocked: "whenUnlocked"
    case .whenUnlockedThisDeviceOnly: "whenUnlockedThisDeviceOnly"
    case .afterFirstUnlock: "afterFirstUnlock"
    case .afterFirstUnlockThisDeviceOnly: "afterFirstUnlockThisDeviceOnly"
    case .always: "always"
    case .alwaysThisDeviceOnly: "alwaysThisDeviceOnly"
    case .whenPasscodeSetThisDeviceOnly: "whenPasscodeSetThisDeviceOnly"
    }
  }

  /// Creates the accessibility with a ``description``; `nil` for other text.
  public init?(_ description: String) {
    guard let found = Self.allCases.first(where: { $0.description == description }) else {
      return nil
    }
    self = found
  }
}
