public import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import Prephirences

// Values that are stored together with attributes of their credential.
extension KeychainPreferences {
  /// Stores a value, with its expiry and notes, in one step.
  ///
  /// ```swift
  /// try keychain.set(tokens, for: "api", expires: .now + 3600, label: "Example API")
  /// ```
  ///
  /// - Parameters:
  ///   - value: The value, as for `set(_:for:)`; `nil` removes the key and ignores the other
  ///     arguments.
  ///   - key: The key.
  ///   - expires: When the value stops being valid; `nil` for never, even if the old value had an
  ///     expiry.
  ///   - label: A name for people; `nil` keeps the current one.
  ///   - comment: A remark for people; `nil` keeps the current one.
  ///   - attributes: Pairs that searches match; attributes with other names stay.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``, or
  ///   ``KeychainError/Code/invalidArgument`` if the value cannot be stored or the name of an attribute is
  ///   reserved. Then the old value stays.
  public func set(
    _ value: Any?, for key: String, expires: Date?, label: String? = nil, comment: String? = nil,
    attributes: CredentialAttributes = [:]
  ) throws(KeychainError) {
    guard let value = unwrapped(value) else {
      try removeValue(for: key)
      return
    }
    let stored = try StoredValue(encoding: value)
    let update = update(stored.contentType, expires, label, comment, attributes)
    try write(stored.secret.bytes, update, for: key)
  }

  /// Stores a secret without a copy outside guarded memory, with its expiry and notes.
  ///
  /// - Parameters:
  ///   - secret: The bytes.
  ///   - key: The key.
  ///   - expires: When the secret stops being valid; `nil` for never.
  ///   - label: A name for people; `nil` keeps the current one.
  ///   - comment: A remark for people; `nil` keeps the current one.
  ///   - attributes: Pairs that searches match; attributes with other names stay.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``. Then the old value stays.
  public func set(
    _ secret: borrowing SecretBytes, for key: String, expires: Date?, label: String? = nil,
    comment: String? = nil, attributes: CredentialAttributes = [:]
  ) throws(KeychainError) {
    try write(secret, update(nil, expires, label, comment, attributes), for: key)
  }

  /// Stores a value, with its expiry and notes, without blocking.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key and ignores the other arguments.
  ///   - key: The key.
  ///   - expires: When the value stops being valid; `nil` for never.
  ///   - label: A name for people; `nil` keeps the current one.
  ///   - comment: A remark for people; `nil` keeps the current one.
  ///   - attributes: Pairs that searches match; attributes with other names stay.
  /// - Throws: As the synchronous method.
  public func set(
    _ value: Any?, for key: String, expires: Date?, label: String? = nil, comment: String? = nil,
    attributes: CredentialAttributes = [:]
  ) async throws(KeychainError) {
    guard let value = unwrapped(value) else {
      try await removeValue(for: key)
      return
    }
    let stored = try StoredValue(encoding: value)
    let update = update(stored.contentType, expires, label, comment, attributes)
    try await onWorkerThread { keychain throws(KeychainError) in
      try keychain.write(stored.secret.bytes, update, for: key)
    }
  }

  /// Stores a secret with its expiry and notes, without blocking, and without a copy outside
  /// guarded memory.
  ///
  /// - Parameters:
  ///   - secret: The bytes.
  ///   - key: The key.
  ///   - expires: When the secret stops being valid; `nil` for never.
  ///   - label: A name for people; `nil` keeps the current one.
  ///   - comment: A remark for people; `nil` keeps the current one.
  ///   - attributes: Pairs that searches match; attributes with other names stay.
  /// - Throws: As the synchronous method.
  public func set(
    _ secret: borrowing SecretBytes, for key: String, expires: Date?, label: String? = nil,
    comment: String? = nil, attributes: CredentialAttributes = [:]
  ) async throws(KeychainError) {
    let secret = try SharedSecret(copying: secret)
    let update = update(nil, expires, label, comment, attributes)
    try await onWorkerThread { keychain throws(KeychainError) in
      try keychain.write(secret.bytes, update, for: key)
    }
  }

  /// Returns what a new value changes in its credential.
  private func update(
    _ contentType: String?, _ expires: Date?, _ label: String?, _ comment: String?,
    _ attributes: CredentialAttributes
  ) -> CredentialUpdate {
    CredentialUpdate(
      accessibility: accessibility, label: FieldChange(orKeep: label),
      comment: FieldChange(orKeep: comment), contentType: FieldChange(to: contentType),
      expires: FieldChange(to: expires), attributes: attributes.map { ($0.name, $0.value) })
  }
}
