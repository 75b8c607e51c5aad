public import KeychainCredentials
public import KeychainSecrets
internal import KeychainVault

extension AutomaticStore {
  /// Stores a credential in the store of its service, which gets one if it has none; see the protocol.
  ///
  /// - Parameters:
  ///   - credential: The credential.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The credential as it was stored.
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is recorded and
  ///   not there, with ``KeychainError/Code/refused`` for an accessibility that it cannot promise, or with
  ///   ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    // Before a store is recorded that would then stay empty.
    try credential.checkRules(secretCount: secret.count)
    return try changing(
      ServiceName(credential.identity),
      adding: FirstCredential(
        identity: credential.identity, accessibility: credential.accessibility, mode: mode)
    ) { _, store throws(KeychainError) in
      try store.store(credential, secret: secret, mode: mode)
    }
  }

  /// Stores a secret in the store of its service, which gets one if it has none, and keeps what is known
  /// about its credential; see the protocol.
  ///
  /// - Parameters:
  ///   - update: The changes; what is left out stays.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes.
  ///   - identity: What names the credential.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The credential as it was stored, and the one that it replaced.
  /// - Throws: As ``store(_:secret:mode:)``.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential {
    let new = update.applied(to: Credential(identity))
    // Before a store is recorded that would then stay empty.
    try new.checkRules(secretCount: secret.count)
    return try changing(
      ServiceName(identity),
      adding: FirstCredential(
        identity: identity, accessibility: new.accessibility, mode: mode, mayExist: true)
    ) { _, store throws(KeychainError) in
      try store.merge(update, secret: secret, into: identity, mode: mode)
    }
  }

  /// Changes a credential in the store of its service; see the protocol.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - update: The changes.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The credential as it is now.
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is recorded and
  ///   not there, or with ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try changing(ServiceName(identity)) { _, store throws(KeychainError) in
      try store.update(identity, with: update, expectedVersion: expectedVersion)
    }
  }

  /// Gives a credential another name within the store of its service; see the protocol.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - newIdentity: What names it from then on.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The credential as it is now.
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is recorded and
  ///   not there, with ``KeychainError/Code/refused`` if the new service has another store, or with
  ///   ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try changing(ServiceName(identity)) { decision, store throws(KeychainError) in
      let service = ServiceName(newIdentity)
      if ServiceName(identity) != service {
        // Looked at first, so that a renaming that can't be done records nothing.
        guard let old = try store.credential(for: identity) else { throw .notFound(identity) }
        try old.checkVersion(expectedVersion)
        guard try store.credential(for: newIdentity) == nil else {
          throw .alreadyExists(newIdentity)
        }
        try settle(service, asPlaceOf: decision)
      }
      return try store.rename(identity, to: newIdentity, expectedVersion: expectedVersion)
    }
  }

  /// Removes a credential from the store of its service, which it keeps; see the protocol.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: `false` if there was none.
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is recorded and
  ///   not there, or with ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    try changing(ServiceName(identity)) { _, store throws(KeychainError) in
      try store.remove(identity, expectedVersion: expectedVersion)
    }
  }
}
