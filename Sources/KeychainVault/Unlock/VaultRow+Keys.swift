internal import KeychainCredentials
internal import KeychainSecrets

// The one place that tells whether a key belongs to a vault.
//
// The row's sum has no key: whoever can write the file can put checks of another vault there. So each way to
// keys asks here first, whoever presents them.
extension VaultRow {
  /// Whether what a slot gave is a key of this vault: a root key must yield all three checks.
  func owns(
    _ key: borrowing SecretBytes, _ grant: SlotGrant
  ) throws(KeychainError) -> Bool {
    switch grant {
    case .root: try TierKeys(root: key).checks == checks
    case .openTier: try owns(key, .open)
    }
  }

  /// Whether a key is that of a tier of this vault.
  func owns(_ key: borrowing SecretBytes, _ tier: Tier) throws(KeychainError) -> Bool {
    try VaultChecks.of(key) == checks[tier]
  }
}
