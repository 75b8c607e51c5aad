package import KeychainCredentials

extension SecretServiceStore {
  /// Makes sure that a credential could be stored now: the collection is there and unlocked, the provider
  /// takes secrets encrypted, and what the mode asks of the credential holds.
  ///
  /// Nothing is stored. What is asked here, is not asked again by the call that stores.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - accessibility: Its accessibility.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Throws: What ``store(_:secret:mode:)`` would throw.
  package func checkStoring(
    _ identity: CredentialIdentity, _ accessibility: Accessibility, mode: StoreMode
  ) throws(KeychainError) {
    try Credential(identity, accessibility: accessibility).checkStoring(secretCount: nil)
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder.creating(operation)
      _ = try operation.session()
      guard mode != .addOrReplace else { return }
      try mode.check(try finder.item(identity)?.credential, identity: identity)
    }
  }
}
