public import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import Prephirences

extension KeychainPreferences {
  /// Returns the secret of a key, in guarded memory.
  ///
  /// - Parameter key: The key.
  /// - Returns: The bytes as they are stored, or `nil` if there are none.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/expired``.
  public func secret(for key: String) throws(KeychainError) -> SecretBytes? {
    guard let value = try stored(key) else { return nil }
    return try value.secret.copy()
  }

  /// Returns the text of a key, whatever was stored.
  ///
  /// - Parameter key: The key.
  /// - Returns: The text, or `nil` if there is none.
  /// - Throws: As `secret(for:)`; ``KeychainError/Code/undecodable`` if the bytes are
  ///   not UTF-8.
  public func string(for key: String) throws(KeychainError) -> String? {
    try stored(key)?.string()
  }

  /// Returns the bytes of a key, whatever was stored.
  ///
  /// - Parameter key: The key.
  /// - Returns: The bytes, or `nil` if there are none.
  /// - Throws: As `secret(for:)`.
  public func data(for key: String) throws(KeychainError) -> Data? {
    try stored(key)?.data
  }

  /// Returns the value of a key, of the type that was stored.
  ///
  /// A value that another program stored is text if it is valid UTF-8, and data otherwise. A
  /// `Codable` value is its JSON data if this program has no type of the stored name; private types
  /// are never found. Read such values with `value(_:for:)`.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: As `secret(for:)`; ``KeychainError/Code/undecodable`` if the bytes do not match
  ///   their content type.
  public func value(for key: String) throws(KeychainError) -> Any? {
    try stored(key)?.value()
  }

  /// Returns the value of a key, of a type that the caller names.
  ///
  /// - Parameters:
  ///   - type: The type, whether or not the program that stored the value has it.
  ///   - key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: As `secret(for:)`; ``KeychainError/Code/undecodable`` if the bytes are not a value
  ///   of that type.
  public func value<Value: Decodable>(
    _ type: Value.Type, for key: String
  ) throws(KeychainError) -> Value? {
    try stored(key)?.value(as: type)
  }

  /// Stores a value.
  ///
  /// - Parameters:
  ///   - value: Text, data, a number, a date, a URL, an array, a dictionary, or any other `Codable`
  ///     value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``, or
  ///   ``KeychainError/Code/invalidArgument`` if the value cannot be stored. Then the old value
  ///   stays.
  public func set(_ value: Any?, for key: String) throws(KeychainError) {
    guard let value = unwrapped(value) else {
      try removeValue(for: key)
      return
    }
    let stored = try StoredValue(encoding: value)
    try store(stored.secret.bytes, contentType: stored.contentType, for: key)
  }

  /// Stores a secret without a copy outside guarded memory.
  ///
  /// - Parameters:
  ///   - secret: The bytes.
  ///   - key: The key.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``. Then the old value stays.
  public func set(_ secret: borrowing SecretBytes, for key: String) throws(KeychainError) {
    try store(secret, contentType: nil, for: key)
  }

  /// Removes a key with its value.
  ///
  /// - Parameter key: The key.
  /// - Returns: `false` if there was no value.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``, or with
  ///   ``KeychainError/Code/refused`` for another program's item.
  @discardableResult
  public func removeValue(for key: String) throws(KeychainError) -> Bool {
    try store.remove(identity(for: key))
  }

  /// Removes all keys of this service (or server) and access group.
  ///
  /// If some keys cannot be listed, nothing is removed. In the vault, all are removed or none; other
  /// stores remove them one by one.
  ///
  /// - Throws: As `allKeys()`, or as `removeValue(for:)`.
  public func removeAll() throws(KeychainError) {
    try removeValues(for: allKeys())
  }

  /// Returns the keys of this service (or server) and access group.
  ///
  /// - Returns: The keys, ordered by their bytes.
  /// - Throws: ``KeychainError``, also if there may be more keys: with
  ///   ``KeychainError/Code/locked``, ``KeychainError/Code/damaged`` or
  ///   ``KeychainError/Code/otherDevice`` if items of the store could not be read.
  public func allKeys() throws(KeychainError) -> [String] {
    let (keys, incomplete) = try search()
    if let incomplete { throw incomplete }
    return keys
  }

  /// Returns whether a key has a value, without reading the secret.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` if there is a value, expired or not.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``.
  public func contains(_ key: String) throws(KeychainError) -> Bool {
    try credential(for: key) != nil
  }

  /// Returns the credential of a key, without the value.
  ///
  /// - Parameter key: The key.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``.
  public func credential(for key: String) throws(KeychainError) -> Credential? {
    try store.credential(for: identity(for: key))
  }

  /// Changes the credential of a key, without changing the value.
  ///
  /// - Parameters:
  ///   - update: The changes, such as a label, an expiry or another accessibility.
  ///   - key: The key.
  /// - Returns: The changed credential.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/notFound``.
  @discardableResult
  public func update(
    _ update: CredentialUpdate, for key: String
  ) throws(KeychainError) -> Credential {
    try store.update(identity(for: key), with: update)
  }

  /// Renames a key in one step; its credential stays the same otherwise.
  ///
  /// - Parameters:
  ///   - key: The key, which has no value afterwards.
  ///   - newKey: The new key, which must not have a value yet.
  /// - Returns: The changed credential.
  /// - Throws: ``KeychainError``, with ``KeychainError/Code/notFound``,
  ///   ``KeychainError/Code/alreadyExists`` or ``KeychainError/Code/locked``.
  @discardableResult
  public func rename(_ key: String, to newKey: String) throws(KeychainError) -> Credential {
    try store.rename(identity(for: key), to: identity(for: newKey))
  }
}
