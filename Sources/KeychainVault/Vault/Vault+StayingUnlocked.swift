internal import KeychainCredentials

extension Vault {
  /// Whether the kernel keeps keys here, so that a vault stays unlocked.
  ///
  /// Most containers don't allow it.
  ///
  /// Tests it with a key that expires at once. Use it only for hints after failures.
  package static var canStayUnlocked: Bool { UnlockCache.isAvailable }
}
