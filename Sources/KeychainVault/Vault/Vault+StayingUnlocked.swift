internal import KeychainCredentials

extension Vault {
  /// Whether the kernel keeps keys here, so that a vault stays unlocked; most containers deny it.
  ///
  /// Tried with a key that expires at once, for hints of failures only.
  package static var canStayUnlocked: Bool { UnlockCache.isAvailable }
}
