package import Foundation
package import KeychainCredentials
package import KeychainSecrets

/// What a vault is called for ever: 16 random bytes, from which every key is derived.
package struct VaultID: Hashable, Sendable {
  package static let count = 16

  package let bytes: Data

  package static func random() throws(KeychainError) -> VaultID {
    VaultID(bytes: try .random(count: count))
  }
}

/// The vault, epoch and administration key of a head, which slots are sealed for.
///
/// It exists before the head, whose bytes contain the slots.
package struct HeadIdentity: Hashable, Sendable {
  package let id: VaultID
  package let epoch: UInt64

  /// The public key that signs the list of members.
  package let administration: Data

  /// What every key must be bound to: a key of another vault, epoch or administration key is never used.
  package let binding: Data

  package static let greatestEpoch: UInt64 = 1 << 31
  static let bindingCount = 32

  package init(id: VaultID, epoch: UInt64, administration: Data) throws(KeychainError) {
    self.id = id
    self.epoch = epoch
    self.administration = administration
    binding = try Derivation.hash(
      "pk3/binding",
      FieldWriter.fields {
        $0.byteString(id.bytes)
        $0.integer(epoch)
        $0.byteString(administration)
      })
  }
}

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

extension Array {
  /// The element of a tier, of three in the order of the tiers.
  package subscript(tier: Tier) -> Element {
    get { self[Int(tier.rawValue)] }
    set { self[Int(tier.rawValue)] = newValue }
  }
}

/// The tier keys at hand: always T0, and the others as far as the vault is unlocked.
package struct TierKeys: Sendable {
  /// The binding of the head to which they belong.
  package let binding: Data

  /// The checks of the tiers, which the head has.
  package let checks: [Data]
  package let open: SharedSecret
  package let first: SharedSecret?
  package let unlocked: SharedSecret?

  /// What signs the commits of a shared vault; `nil` if only keys from the cache are at hand.
  package var signer: CommitSigner?

  /// What was derived from these keys before. Only copies of them share the object.
  package let derived = DerivedKeys()

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
    root: borrowing SecretBytes, of head: HeadIdentity
  ) throws(KeychainError) {
    var keys: [SharedSecret] = []
    for tier in Tier.allCases {
      let fields = FieldWriter.fields {
        $0.byteString(head.id.bytes)
        $0.integer(head.epoch)
        $0.integer(tier.rawValue)
      }
      keys.append(SharedSecret(try Derivation.key(root, "pk3/tier", fields)))
    }
    try self.init(all: keys, binding: head.binding)
  }

  /// Creates keys from all three tier keys, in their order.
  init(all keys: [SharedSecret], binding: Data) throws(KeychainError) {
    let checks = try keys.map { key throws(KeychainError) in try Self.check(of: key.bytes) }
    self.init(
      binding: binding, checks: checks, open: keys[0], first: keys[1], unlocked: keys[2])
  }

  package init(
    binding: Data, checks: [Data], open: SharedSecret, first: SharedSecret?,
    unlocked: SharedSecret?, signer: CommitSigner? = nil
  ) {
    self.binding = binding
    self.checks = checks
    self.open = open
    self.first = first
    self.unlocked = unlocked
    self.signer = signer
  }

  /// Returns what shows that a key is the one of a vault and epoch.
  static func check(of tierKey: borrowing SecretBytes) throws(KeychainError) -> Data {
    try Derivation.shortTag(tierKey, "pk3/check")
  }

  /// T0 alone, with which a verification checks everything but opens only items that need no unlock.
  package var openTierOnly: TierKeys {
    TierKeys(
      binding: binding, checks: checks, open: open, first: nil, unlocked: nil, signer: signer)
  }
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
  let secret: SharedSecret
  package let id: Data
}
