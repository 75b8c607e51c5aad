internal import KeychainCredentials
internal import KeychainSecrets

// The throwing methods use these, with types that may cross threads.
extension KeychainPreferences {
  func stored(_ key: String) throws(KeychainError) -> StoredValue? {
    let identity = identity(for: key)
    guard let item = try store.secret(for: identity) else { return nil }
    let contentType = item.credential.contentType
    guard !item.credential.isExpired() else {
      throw KeychainError(.expired, "the credential \(identity) has expired")
    }
    return StoredValue(
      identity: identity, contentType: contentType, secret: SharedSecret(item.takeSecret()))
  }

  /// Writes a value, and keeps the notes of its credential.
  func store(
    _ secret: borrowing SecretBytes, contentType: String?, for key: String
  ) throws(KeychainError) {
    try write(secret, update(contentType: contentType), for: key)
  }

  /// Returns what a new value changes of its credential.
  func update(contentType: String?) -> CredentialUpdate {
    // The expiry belongs to the old value.
    CredentialUpdate(
      accessibility: accessibility, contentType: FieldChange(to: contentType), expires: .clear)
  }

  /// Writes a value, and keeps what the update leaves out.
  func write(
    _ secret: borrowing SecretBytes, _ update: CredentialUpdate, for key: String
  ) throws(KeychainError) {
    try store.merge(update, secret: secret, into: identity(for: key))
  }

  /// Returns the names of the credentials, and the first reason why there may be more.
  func search() throws(KeychainError) -> (keys: [String], incomplete: KeychainError?) {
    let result = try store.search(query)
    let keys = result.credentials.map(\.identity).filter { $0 == identity(for: $0.account) }
      .map(\.account)
    return (keys, KeychainError(incomplete: result))
  }

  private var query: CredentialQuery {
    let accessGroup = accessGroup ?? ""
    switch kind {
    case .genericPassword(let service, _):
      return CredentialQuery(accessGroup: accessGroup, service: service)
    case .internetPassword(let password):
      return CredentialQuery(
        accessGroup: accessGroup, server: password.server, protocol: password.protocol,
        port: password.port, path: password.path)
    }
  }
}
