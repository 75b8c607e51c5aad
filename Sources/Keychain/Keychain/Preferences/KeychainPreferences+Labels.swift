public import KeychainCredentials
public import KeychainSecrets

// Values that are stored with notes, and without an expiry.
extension KeychainPreferences {
  /// Stores a value with notes, in one step.
  ///
  /// ```swift
  /// try keychain.set(token, for: "api", label: "Example API")
  /// ```
  ///
  /// The value does not expire, even if the old value had an expiry.
  ///
  /// - Parameters:
  ///   - value: The value, as for `set(_:for:)`; `nil` removes the key and ignores the other
  ///     arguments.
  ///   - key: The key.
  ///   - label: A name for people; `nil` keeps the current one.
  ///   - comment: A remark for people; `nil` keeps the current one.
  ///   - attributes: Pairs that searches match; attributes with other names stay.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``, or
  ///   ``KeychainError/Code/invalidArgument`` if the value cannot be stored or the name of an attribute is
  ///   reserved. Then the old value stays.
  public func set(
    _ value: Any?, for key: String, label: String?, comment: String? = nil,
    attributes: CredentialAttributes = [:]
  ) throws(KeychainError) {
    try set(
      value, for: key, expires: nil, label: label, comment: comment, attributes: attributes)
  }

  /// Stores a secret with notes, without a copy outside guarded memory.
  ///
  /// The secret does not expire, even if the old value had an expiry.
  ///
  /// - Parameters:
  ///   - secret: The bytes.
  ///   - key: The key.
  ///   - label: A name for people; `nil` keeps the current one.
  ///   - comment: A remark for people; `nil` keeps the current one.
  ///   - attributes: Pairs that searches match; attributes with other names stay.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``. Then the old value stays.
  public func set(
    _ secret: borrowing SecretBytes, for key: String, label: String?, comment: String? = nil,
    attributes: CredentialAttributes = [:]
  ) throws(KeychainError) {
    try set(
      secret, for: key, expires: nil, label: label, comment: comment, attributes: attributes)
  }

  /// Stores a value with notes, without blocking.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key and ignores the other arguments.
  ///   - key: The key.
  ///   - label: A name for people; `nil` keeps the current one.
  ///   - comment: A remark for people; `nil` keeps the current one.
  ///   - attributes: Pairs that searches match; attributes with other names stay.
  /// - Throws: As the synchronous method.
  public func set(
    _ value: Any?, for key: String, label: String?, comment: String? = nil,
    attributes: CredentialAttributes = [:]
  ) async throws(KeychainError) {
    try await set(
      value, for: key, expires: nil, label: label, comment: comment, attributes: attributes)
  }

  /// Stores a secret with notes, without blocking, and without a copy outside guarded memory.
  ///
  /// - Parameters:
  ///   - secret: The bytes.
  ///   - key: The key.
  ///   - label: A name for people; `nil` keeps the current one.
  ///   - comment: A remark for people; `nil` keeps the current one.
  ///   - attributes: Pairs that searches match; attributes with other names stay.
  /// - Throws: As the synchronous method.
  public func set(
    _ secret: borrowing SecretBytes, for key: String, label: String?, comment: String? = nil,
    attributes: CredentialAttributes = [:]
  ) async throws(KeychainError) {
    try await set(
      secret, for: key, expires: nil, label: label, comment: comment, attributes: attributes)
  }
}
