public import KeychainCredentials
internal import KeychainVault

extension AutomaticStore {
  /// Returns a secret from the store of its service; see the protocol.
  ///
  /// - Parameter identity: What names the credential.
  /// - Returns: The secret with its credential, or `nil` if there is none.
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is
  ///   recorded and missing, or with ``KeychainError/Code/busy`` if migrations keep moving
  ///   services.
  public func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    try reading(ServiceName(identity)) { store throws(KeychainError) in
      try store.secret(for: identity)
    }
  }

  /// Returns a credential from the store of its service; see the protocol.
  ///
  /// - Parameter identity: What names the credential.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: As ``secret(for:)``.
  public func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try reading(ServiceName(identity)) { store throws(KeychainError) in
      try store.credential(for: identity)
    }
  }

  /// Calls `body` with the store of a service.
  ///
  /// An error for a missing store says why the store is needed.
  ///
  /// If a service changes over to another store meanwhile, `body` is called again: its result may
  /// be missing or out of date.
  func reading<Result: ~Copyable>(
    _ service: ServiceName, _ body: (any CredentialStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try readingAtPlace(service) { _, store throws(KeychainError) in try body(store) }
  }

  /// Calls `body` as ``reading(_:_:)`` does, with the place of the store as well.
  func readingAtPlace<Result: ~Copyable>(
    _ service: ServiceName,
    _ body: (StorePlace, any CredentialStore) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try unmoved { () throws(KeychainError) in
      let decision = try chooser.decision(for: service)
      do throws(KeychainError) {
        return try body(decision.place, store(at: decision.place))
      } catch {
        throw error.explained(by: decision, "the credentials of \(service)")
      }
    }
  }

  /// Calls `body` again until no service changes over to another store meanwhile.
  func unmoved<Result: ~Copyable>(
    _ body: () throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    for _ in 0..<Self.readingLimit {
      let generation = choiceLock.generation()
      do throws(KeychainError) {
        let result = try body()
        if choiceLock.generation() == generation { return result }
      } catch {
        if choiceLock.generation() == generation { throw error }
      }
    }
    throw KeychainError(
      .busy, "migrations keep moving credentials between the stores",
      recovery: "try again when they have ended")
  }

  /// How many migrations may end during one read.
  private static let readingLimit = 20
}

extension KeychainError {
  /// Returns the error of a missing store, with the reason why it is needed.
  func explained(by decision: StoreDecision, _ subject: String) -> KeychainError {
    guard code == .noStore, decision.reason == .record, decision.place != .vault else {
      return self
    }
    return KeychainError(
      .noStore, "\(subject) are in the desktop keyring, and \(message)",
      recovery: "use them within the desktop session; \(.migrate) moves them into the "
        + "vault, and \(.useVault) or KEYCHAIN_STORE=vault uses the vault without them",
      underlying: underlying)
  }
}
