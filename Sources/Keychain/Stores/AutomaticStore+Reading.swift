public import KeychainCredentials

extension AutomaticStore {
  /// Returns a secret from the store of its service; see the protocol.
  ///
  /// - Parameter identity: What names the credential.
  /// - Returns: The secret with its credential, or `nil` if there is none.
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is recorded and
  ///   not there.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    try using(decision(for: identity), identity) { store throws(KeychainError) in
      try store.secret(for: identity)
    }
  }

  /// Returns a credential from the store of its service; see the protocol.
  ///
  /// - Parameter identity: What names the credential.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: As ``secret(for:)``.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try using(decision(for: identity), identity) { store throws(KeychainError) in
      try store.credential(for: identity)
    }
  }

  /// Calls `body` with the store of a decision; that a recorded store is missing is told as such.
  func using<Result: ~Copyable>(
    _ decision: StoreDecision, _ identity: CredentialIdentity,
    _ body: (any CredentialStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    do throws(KeychainError) {
      return try body(store(at: decision.place))
    } catch {
      throw error.explained(by: decision, "the credentials of \(ServiceName(identity))")
    }
  }
}

extension KeychainError {
  /// The failure of a store that is not there, with why it is needed.
  func explained(by decision: StoreDecision, _ subject: String) -> KeychainError {
    guard code == .noStore, decision.reason == .record, decision.place != .vault else {
      return self
    }
    return KeychainError(
      .noStore, "\(subject) are in the desktop keyring, and \(message)",
      recovery: "use them within the desktop session; `prefs keychain migrate` moves them into the "
        + "vault, and --store vault or KEYCHAIN_STORE=vault uses the vault without them",
      underlying: underlying)
  }
}
