internal import KeychainCredentials
internal import KeychainSecrets

/// A stored value, with what is known about it.
struct StoredItem: Sendable {
  let credential: Credential
  let value: StoredValue
}

extension CredentialStore {
  /// Reads a value, be it expired or not.
  func item(_ identity: CredentialIdentity) throws(KeychainError) -> StoredItem? {
    guard let item = try secret(for: identity) else { return nil }
    let credential = item.credential
    return StoredItem(
      credential: credential,
      value: StoredValue(
        identity: identity, contentType: credential.contentType,
        secret: SharedSecret(item.takeSecret())))
  }

  /// Writes a value in the place of the one that was read; `nil` stands for none, in both.
  ///
  /// - Throws: ``KeychainError`` whose `isConflict` is true if somebody else changed it after it was read.
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
  /// Whether another value has the same bytes and is of the same type.
  func isSame(as other: StoredValue) -> Bool {
    contentType == other.contentType && secret.bytes.isEqual(to: other.secret.bytes)
  }
}

extension FieldChange {
  /// The change that makes a field what is given.
  init(to value: Value?) {
    self = value.map { .set($0) } ?? .clear
  }

  /// The change that makes a field what is given, and keeps it if nothing is.
  init(orKeep value: Value?) {
    self = value.map { .set($0) } ?? .keep
  }
}
