package import KeychainCredentials
package import KeychainSecrets

/// A store that passes every call on to another one, except those that it implements itself.
package protocol ForwardingStore: CredentialStore {
  associatedtype Content: CredentialStore

  /// The store that gets the calls.
  var content: Content { get }
}

extension ForwardingStore {
  package func secret(for identity: CredentialIdentity) throws(KeychainError) -> StoredSecret? {
    try content.secret(for: identity)
  }

  package func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
    try content.credential(for: identity)
  }

  package func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    try content.search(query)
  }

  package func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    try content.set(credential, secret: secret, mode: mode)
  }

  package func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try content.update(identity, with: update, expectedVersion: expectedVersion)
  }

  package func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Credential {
    try content.rename(identity, to: newIdentity, expectedVersion: expectedVersion)
  }

  package func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?
  ) throws(KeychainError) -> Bool {
    try content.remove(identity, expectedVersion: expectedVersion)
  }

  package func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    content.observe(observer)
  }
}
