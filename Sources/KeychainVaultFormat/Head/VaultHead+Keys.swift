package import KeychainCredentials
package import KeychainSecrets

// The one place that decides whether a key belongs to a vault.
extension VaultHead {
  /// Whether a key is the key of a tier of this vault, as far as its check shows.
  package func owns(_ key: borrowing SecretBytes, _ tier: Tier) throws(KeychainError) -> Bool {
    try VaultChecks.of(key) == checks[tier]
  }

  /// Whether keys are those of this vault now, as far as checks and binding show.
  ///
  /// If not, they are old.
  package func owns(_ keys: TierKeys) -> Bool {
    keys.binding == binding && keys.checks == checks
  }
}

extension GrantedKey {
  /// Returns the tier keys that follow, if they are those of a head; `nil` if not.
  package func tierKeys(of head: VaultHead) throws(KeychainError) -> TierKeys? {
    let keys: TierKeys
    switch self {
    case .root(let root):
      keys = try TierKeys(
        root: root.bytes, id: head.id, epoch: head.epoch, binding: head.binding)
    case .openTier(let open):
      guard try head.owns(open.bytes, .open) else { return nil }
      return TierKeys(
        binding: head.binding, checks: head.checks, open: open, first: nil, unlocked: nil)
    case .tiers(let all): keys = try TierKeys(all: all, binding: head.binding)
    }
    return head.owns(keys) ? keys : nil
  }
}
