package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The three tiers of keys below the root key.
package enum Tier: UInt8, CaseIterable {
  /// Indexes, the state row, and items that need no unlock.
  case open = 0

  /// Items that are readable from the first unlock after boot.
  case first = 1

  /// Items that are readable while the vault is unlocked.
  case unlocked = 2

  package init(_ requirement: Accessibility.UnlockRequirement) {
    switch requirement {
    case .nothing: self = .open
    case .unlockedSinceBoot: self = .first
    case .unlockedNow: self = .unlocked
    }
  }
}

/// The checks of the tiers, which are not encrypted in the vault row.
///
/// They show whether a key belongs to this vault as it is now.
package struct VaultChecks: Hashable, Sendable {
  package let open: Data
  package let first: Data
  package let unlocked: Data

  package init(open: Data, first: Data, unlocked: Data) {
    self.open = open
    self.first = first
    self.unlocked = unlocked
  }

  package subscript(tier: Tier) -> Data {
    switch tier {
    case .open: open
    case .first: first
    case .unlocked: unlocked
    }
  }

  package static let hashCount = 32

  /// Returns the hash of all three checks, to which a cached key is bound.
  package func hash() throws(KeychainError) -> Data {
    try Derivation.hash(open + first + unlocked, count: Self.hashCount)
  }

  package static func of(_ tierKey: borrowing SecretBytes) throws(KeychainError) -> Data {
    try Derivation.shortTag(tierKey, "pk1/check")
  }
}

/// The tier keys at hand: always T0, and the others as far as the vault is unlocked.
package struct TierKeys: Sendable {
  package let checks: VaultChecks
  package let open: SharedSecret
  package let first: SharedSecret?
  package let unlocked: SharedSecret?

  package func key(_ tier: Tier) -> SharedSecret? {
    switch tier {
    case .open: open
    case .first: first
    case .unlocked: unlocked
    }
  }

  /// The greatest requirement that is met.
  package var readable: Accessibility.UnlockRequirement {
    if unlocked != nil { return .unlockedNow }
    return first == nil ? .nothing : .unlockedSinceBoot
  }

  /// Whether the key of a requirement's tier is at hand, in addition to T0.
  package func satisfies(_ requirement: Accessibility.UnlockRequirement) -> Bool {
    key(Tier(requirement)) != nil
  }

  /// Derives all tiers of a root key.
  package init(root: borrowing SecretBytes) throws(KeychainError) {
    let keys = try Self.tiers(of: root)
    open = keys[0]
    first = keys[1]
    unlocked = keys[2]
    checks = VaultChecks(
      open: try VaultChecks.of(keys[0].bytes),
      first: try VaultChecks.of(keys[1].bytes),
      unlocked: try VaultChecks.of(keys[2].bytes))
  }

  package init(
    checks: VaultChecks, open: SharedSecret, first: SharedSecret?, unlocked: SharedSecret?
  ) {
    self.checks = checks
    self.open = open
    self.first = first
    self.unlocked = unlocked
  }

  /// T0 alone, with which a verification checks every row but opens only items that need no unlock.
  package var openTierOnly: TierKeys {
    TierKeys(checks: checks, open: open, first: nil, unlocked: nil)
  }

  private static func tiers(
    of root: borrowing SecretBytes
  ) throws(KeychainError) -> [SharedSecret] {
    var keys: [SharedSecret] = []
    for tier in Tier.allCases {
      keys.append(SharedSecret(try Derivation.key(root, "pk1/tier", [tier.rawValue])))
    }
    return keys
  }
}

/// The secret of this machine, without which its ThisDeviceOnly items stay closed.
package struct DeviceSecret: Sendable {
  package let secret: SharedSecret
  package let id: Data

  package init(_ secret: consuming SecretBytes) throws(KeychainError) {
    id = try Derivation.shortTag(secret, "pk1/device.id")
    self.secret = SharedSecret(secret)
  }
}
