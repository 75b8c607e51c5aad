package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// The three tiers of keys below the root key.
package enum Tier: UInt8, CaseIterable, Sendable {
  /// Commits, the index and its pages, the list of members, and items that need no unlock.
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

/// The checks of the tiers, which are not encrypted in the head.
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

  package static func of(_ tierKey: borrowing SecretBytes) throws(KeychainError) -> Data {
    try Derivation.shortTag(tierKey, "pk3/check")
  }
}

/// The tier keys at hand: always T0, and the others as far as the vault is unlocked.
package struct TierKeys: Sendable {
  /// The vault, epoch and administration key to which they belong.
  package let binding: KeyBinding
  package let checks: VaultChecks
  package let open: SharedSecret
  package let first: SharedSecret?
  package let unlocked: SharedSecret?

  /// Tells copies of these keys from others, without comparing them.
  package let identity = TierKeysIdentity()

  /// What signs the commits of a shared vault; `nil` if only keys from the cache are at hand.
  package var signer: CommitSigner?

  /// What was derived from these keys before.
  let derived: DerivedKeys

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
  package init(
    root: borrowing SecretBytes, id: VaultID, epoch: UInt64, binding: KeyBinding
  ) throws(KeychainError) {
    var keys: [SharedSecret] = []
    for tier in Tier.allCases {
      let fields = FieldWriter.fields {
        $0.byteString(id.bytes)
        $0.integer(epoch)
        $0.integer(tier.rawValue)
      }
      keys.append(SharedSecret(try Derivation.key(root, "pk3/tier", fields)))
    }
    try self.init(all: keys, binding: binding)
  }

  /// Creates keys from all three tier keys, in their order.
  package init(all keys: [SharedSecret], binding: KeyBinding) throws(KeychainError) {
    self.init(
      binding: binding,
      checks: VaultChecks(
        open: try VaultChecks.of(keys[0].bytes),
        first: try VaultChecks.of(keys[1].bytes),
        unlocked: try VaultChecks.of(keys[2].bytes)),
      open: keys[0], first: keys[1], unlocked: keys[2])
  }

  package init(
    binding: KeyBinding, checks: VaultChecks, open: SharedSecret, first: SharedSecret?,
    unlocked: SharedSecret?, signer: CommitSigner? = nil
  ) {
    self.binding = binding
    self.checks = checks
    self.open = open
    self.first = first
    self.unlocked = unlocked
    self.signer = signer
    derived = DerivedKeys()
  }

  /// T0 alone, with which a verification checks everything but opens only items that need no unlock.
  package var openTierOnly: TierKeys {
    TierKeys(
      binding: binding, checks: checks, open: open, first: nil, unlocked: nil, signer: signer)
  }
}

/// An object that only copies of some keys share; it has no keys itself.
package final class TierKeysIdentity: Sendable {
  init() {}
}

/// The secret of this machine, without which its ThisDeviceOnly items stay closed.
package struct DeviceSecret: Sendable {
  package let secret: SharedSecret

  package init(_ secret: consuming SecretBytes) {
    self.secret = SharedSecret(secret)
  }

  /// Returns this device as one vault knows it.
  package func inVault(_ vault: VaultID) throws(KeychainError) -> VaultDevice {
    let fields = FieldWriter.fields { $0.byteString(vault.bytes) }
    return VaultDevice(
      secret: secret, id: try Derivation.shortTag(secret.bytes, "pk2/device.id", fields))
  }
}

/// This machine as one vault knows it: each vault has another id for it.
package struct VaultDevice: Sendable {
  package let secret: SharedSecret
  package let id: Data
}
