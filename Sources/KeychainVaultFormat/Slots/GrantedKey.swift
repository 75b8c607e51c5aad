package import KeychainCredentials
internal import KeychainSecrets

/// The keys that a slot yields.
package enum GrantedKey: Sendable {
  /// The root key, from which everything follows.
  case root(SharedSecret)

  /// The key of tier T0.
  case openTier(SharedSecret)

  /// The keys of all tiers, in their order.
  case tiers([SharedSecret])

  /// Reads the keys of a grant from the beginning of what a slot held.
  init(_ grant: SlotGrant, _ bytes: RawSpan) throws(SecretsError) {
    func key(_ index: Int) throws(SecretsError) -> SharedSecret {
      SharedSecret(try SecretBytes(copying: bytes.extracting(32 * index..<32 * (index + 1))))
    }
    switch grant {
    case .administers: self = .root(try key(0))
    case .openTier: self = .openTier(try key(0))
    case .readsAndWrites, .reads: self = .tiers([try key(0), try key(1), try key(2)])
    }
  }

  /// Returns what a grant yields of a vault's keys.
  package init(
    _ grant: SlotGrant, root: SharedSecret, keys: TierKeys
  ) throws(KeychainError) {
    switch grant {
    case .administers: self = .root(root)
    case .openTier: self = .openTier(keys.open)
    case .readsAndWrites, .reads:
      guard let first = keys.first, let unlocked = keys.unlocked else {
        throw KeychainError(.internalFailure, "a slot was made without all keys")
      }
      self = .tiers([keys.open, first, unlocked])
    }
  }

  /// The keys, in their order.
  var parts: [SharedSecret] {
    switch self {
    case .root(let key), .openTier(let key): [key]
    case .tiers(let keys): keys
    }
  }

  /// The root key; `nil` if the slot did not yield it.
  package var root: SharedSecret? {
    if case .root(let root) = self { root } else { nil }
  }
}
