package import KeychainCredentials
package import KeychainSecrets

extension VaultHead {
  /// The slots of a kind, in the order in which they are tried.
  package func slots(of kind: SlotKind) -> [SlotRow] { slots.filter { $0.kind == kind } }

  /// - Throws: ``KeychainError/Code/damaged`` if a slot that breaks the format may be the one that a secret of this kind opens.
  package func requireWellFormed(_ kind: SlotKind, path: String) throws(KeychainError) {
    guard malformed.isDisjoint(with: [kind, nil]) else {
      throw .damagedVault(path, "a slot that may be the right one is damaged")
    }
  }
}

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
