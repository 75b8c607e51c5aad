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
  /// - Returns: The stored credential.
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is
  ///   recorded and missing, with ``KeychainError/Code/refused`` for an accessibility that it
  ///   cannot guarantee, or with ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func store(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    // Check first: otherwise a store would be recorded, and would stay empty.
    try credential.checkRules(secretCount: secret.count)
    return try changing(
      ServiceName(credential.identity),
      adding: FirstCredential(
        identity: credential.identity, accessibility: credential.accessibility, mode: mode)
    ) { _, store throws(KeychainError) in
      try store.store(credential, secret: secret, mode: mode)
    }
  }

  /// Stores a secret in the store of its service, which gets one if it has none, and keeps the
  /// other attributes of its credential; see the protocol.
  ///
  /// - Parameters:
  ///   - update: The changes; attributes that are left out stay.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes.
  ///   - identity: What names the credential.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The stored credential, and the one that it replaced.
  /// - Throws: As ``store(_:secret:mode:)``.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential {
    let new = update.applied(to: Credential(identity))
    // Check first: otherwise a store would be recorded, and would stay empty.
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
  /// - Returns: The changed credential.
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is
  ///   recorded and missing, or with ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try changing(ServiceName(identity)) { _, store throws(KeychainError) in
      try store.update(identity, with: update, expectedVersion: expectedVersion)
    }
  }

  /// Renames a credential within the store of its service; see the protocol.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - newIdentity: The new identity.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: The renamed credential.
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is
  ///   recorded and missing, with ``KeychainError/Code/refused`` if the new service has another
  ///   store, or with ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try changing(ServiceName(identity)) { decision, store throws(KeychainError) in
      let service = ServiceName(newIdentity)
      if ServiceName(identity) != service {
        // Read first, so that a failed renaming records nothing.
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

  /// Removes a credential from the store of its service; the service keeps its store.
  ///
  /// See the protocol.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - expectedVersion: The version that the credential must have; `nil` for any.
  /// - Returns: `false` if there was no credential.
  /// - Throws: ``KeychainError`` of that store, with ``KeychainError/Code/noStore`` if it is
  ///   recorded and missing, or with ``KeychainError/Code/busy`` if a migration takes too long.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    try changing(ServiceName(identity)) { _, store throws(KeychainError) in
      try store.remove(identity, expectedVersion: expectedVersion)
    }
  }
}
