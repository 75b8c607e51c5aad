/// When a credential can be read, and whether it may leave the machine.
///
/// In the vault each value is a key of its own, not a label: see the method ``requires`` and the
/// document SECURITY.md.
public enum Accessibility: UInt8, CaseIterable, Hashable, Sendable {
  /// While the store is unlocked now; forgotten when it is locked and after the idle time. The
  /// default.
  case whenUnlocked = 0

  /// As ``whenUnlocked``, and never exported; a copy of the vault alone does not open it.
  case whenUnlockedThisDeviceOnly = 1

  /// From the first unlock after boot until the next boot, even while the store is locked.
  case afterFirstUnlock = 2

  /// As ``afterFirstUnlock``, and never exported; a copy of the vault alone does not open it.
  case afterFirstUnlockThisDeviceOnly = 3

  /// Without any unlock. It protects against other users of the machine, not against whoever has
  /// the disk.
  case always = 4

  /// As ``always``, and never exported; a copy of the vault alone does not open it.
  case alwaysThisDeviceOnly = 5

  /// As ``whenUnlockedThisDeviceOnly``, and only in a store that has a passphrase.
  case whenPasscodeSetThisDeviceOnly = 6

  /// Whether items of this accessibility stay on this machine: they are never exported, and are
  /// also bound to the machine's device secret.
  public var isThisDeviceOnly: Bool {
    switch self {
    case .whenUnlocked, .afterFirstUnlock, .always: false
    case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
      .whenPasscodeSetThisDeviceOnly:
      true
    }
  }

  /// The unlock state that reading an item of this accessibility takes.
  public var unlockRequirement: UnlockRequirement {
    switch self {
    case .always, .alwaysThisDeviceOnly: .nothing
    case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .unlockedSinceBoot
    case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .unlockedNow
    }
  }

  /// The unlock states that accessibilities ask for, from the least to the most.
  public enum UnlockRequirement: Int, Comparable, Hashable, Sendable {
    /// Readable without any unlock.
    case nothing

    /// Readable once the store was unlocked since boot.
    case unlockedSinceBoot

    /// Readable while the store is unlocked.
    case unlockedNow

    /// Orders the states by how much they ask for.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }
}

extension Accessibility: CustomStringConvertible, LosslessStringConvertible {
  /// The name, as it is written on the command line.
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

  /// Finds the accessibility of a name.
  ///
  /// - Parameter description: The name, as ``description`` spells it.
  public init?(_ description: String) {
    guard let found = Self.allCases.first(where: { $0.description == description }) else {
      return nil
    }
    self = found
  }
}
