internal import KeychainCredentials
internal import KeychainSecrets

/// A stored value, with its credential.
struct StoredItem: Sendable {
  let credential: Credential
  let value: StoredValue
}

extension CredentialStore {
  /// Reads a value, whether it has expired or not.
  func item(_ identity: CredentialIdentity) throws(KeychainError) -> StoredItem? {
    guard let item = try secret(for: identity) else { return nil }
    let credential = item.credential
    return StoredItem(
      credential: credential,
      value: StoredValue(
        identity: identity, contentType: credential.contentType,
        secret: SharedSecret(item.takeSecret())))
  }

  /// Writes a value in place of the one that was read; `nil` means no value, in both.
  ///
  /// - Throws: ``KeychainError`` whose `isConflict` is true if it was changed after it was read.
  @discardableResult
  func replace(
    _ old: StoredItem?, _ credential: Credential, by value: StoredValue?
  ) throws(KeychainError) -> Credential? {
    guard let value else {
      if let old { try remove(old.credential.identity, expectedVersion: old.credential.version) }
      return nil
    }
    let mode = old.map { StoreMode.replace(version: $0.credential.version) } ?? .addOnly
    return try store(credential, secret: value.secret.bytes, mode: mode)
  }
}

extension StoredValue {
  /// Returns whether another value has the same bytes and type.
  func isSame(as other: StoredValue) -> Bool {
    contentType == other.contentType && secret.bytes.isEqual(to: other.secret.bytes)
  }
}

extension FieldChange {
  /// Sets a field, or clears it if the value is `nil`.
  init(to value: Value?) {
    self = value.map { .set($0) } ?? .clear
  }

  /// Sets a field, or keeps it if the value is `nil`.
  init(orKeep value: Value?) {
    self = value.map { .set($0) } ?? .keep
  }
}
