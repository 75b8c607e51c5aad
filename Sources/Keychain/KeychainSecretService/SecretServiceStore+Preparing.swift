package import KeychainCredentials

extension SecretServiceStore {
  /// Checks that a credential could be stored now: the collection is available and unlocked, the
  /// provider accepts encrypted secrets, and the condition of the mode holds.
  ///
  /// Nothing is stored. A question that is asked here is not asked again when storing.
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
