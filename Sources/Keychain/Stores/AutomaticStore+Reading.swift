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
  ///
  /// If a migration has taken the service elsewhere in between, `body` is called with its new store, too:
  /// what it read may be gone, and what it wrote must not stay behind.
  func using<Result: ~Copyable>(
    _ decision: StoreDecision, _ identity: CredentialIdentity,
    _ body: (any CredentialStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    let service = ServiceName(identity)
    let later: StorePlace
    do throws(KeychainError) {
      let result = try body(store(at: decision.place))
      guard let moved = try place(of: service, after: decision) else { return result }
      later = moved
    } catch {
      guard let moved = try place(of: service, after: decision) else {
        throw error.explained(by: decision, "the credentials of \(service)")
      }
      later = moved
    }
    return try body(store(at: later))
  }

  /// The place that a service has by now, if that is another one than was decided on.
  func place(
    of service: ServiceName, after decision: StoreDecision
  ) throws(KeychainError) -> StorePlace? {
    guard !decision.isExplicit, let now = try records.place(of: service), now != decision.place
    else { return nil }
    return now
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
