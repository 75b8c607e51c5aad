public import Foundation
public import KeychainCredentials
public import KeychainSecrets

// Reading expired values, such as a pair of tokens of which only one has expired.
extension KeychainPreferences {
  /// Returns the secret of a key, in guarded memory, even if it has expired.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - allowingExpired: Whether to return an expired secret; if `false`, it throws
  ///     ``KeychainError/Code/expired``.
  /// - Returns: The bytes as they are stored, or `nil` if there are none.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``.
  public func secret(for key: String, allowingExpired: Bool) throws(KeychainError) -> SecretBytes? {
    guard let value = try stored(key, allowingExpired)
    else { return nil }
    return try value.secret.copy()
  }

  /// Returns the text of a key, whatever type was stored, even if it has expired.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - allowingExpired: Whether to return an expired value; if `false`, it throws
  ///     ``KeychainError/Code/expired``.
  /// - Returns: The text, or `nil` if there is none.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``, or ``KeychainError/Code/undecodable`` if
  ///   the bytes are not UTF-8.
  public func string(for key: String, allowingExpired: Bool) throws(KeychainError) -> String? {
    try stored(key, allowingExpired)?.string()
  }

  /// Returns the bytes of a key, whatever type was stored, even if they have expired.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - allowingExpired: Whether to return an expired value; if `false`, it throws
  ///     ``KeychainError/Code/expired``.
  /// - Returns: The bytes, or `nil` if there are none.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``.
  public func data(for key: String, allowingExpired: Bool) throws(KeychainError) -> Data? {
    try stored(key, allowingExpired)?.data
  }

  /// Returns the value of a key, of the type that was stored, even if it has expired.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - allowingExpired: Whether to return an expired value; if `false`, it throws
  ///     ``KeychainError/Code/expired``.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``, or
  ///   ``KeychainError/Code/undecodable`` if the bytes do not match their content type.
  public func value(for key: String, allowingExpired: Bool) throws(KeychainError) -> Any? {
    try stored(key, allowingExpired)?.value()
  }

  /// Returns the value of a key, of a type that the caller names, even if it has expired.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - key: The key.
  ///   - allowingExpired: Whether to return an expired value; if `false`, it throws
  ///     ``KeychainError/Code/expired``.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked``, or
  ///   ``KeychainError/Code/undecodable`` if the bytes are not a value of that type.
  public func value<Value: Decodable>(
    _ type: Value.Type, for key: String, allowingExpired: Bool
  ) throws(KeychainError) -> Value? {
    try stored(key, allowingExpired)?.value(as: type)
  }

  private func stored(
    _ key: String, _ allowingExpired: Bool
  ) throws(KeychainError) -> StoredValue? {
    allowingExpired ? try store.item(identity(for: key))?.value : try stored(key)
  }
}

// The same for asynchronous code.
extension KeychainPreferences {
  /// Returns the secret of a key, in guarded memory, even if it has expired, without blocking.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - allowingExpired: Whether to return an expired secret; if `false`, it throws
  ///     ``KeychainError/Code/expired``.
  /// - Returns: The bytes as they are stored, or `nil` if there are none.
  /// - Throws: As the synchronous method.
  public func secret(
    for key: String, allowingExpired: Bool
  ) async throws(KeychainError) -> SecretBytes? {
    guard
      let value = try await onWorkerThread({ keychain throws(KeychainError) in
        try keychain.stored(key, allowingExpired)
      })
    else { return nil }
    return try value.secret.copy()
  }

  /// Returns the text of a key, whatever type was stored, even if it has expired, without blocking.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - allowingExpired: Whether to return an expired value; if `false`, it throws
  ///     ``KeychainError/Code/expired``.
  /// - Returns: The text, or `nil` if there is none.
  /// - Throws: As the synchronous method.
  public func string(for key: String, allowingExpired: Bool) async throws(KeychainError) -> String?
  {
    try await onWorkerThread { keychain throws(KeychainError) in
      try keychain.stored(key, allowingExpired)
    }?.string()
  }

  /// Returns the bytes of a key, whatever type was stored, even if they have expired, without
  /// blocking.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - allowingExpired: Whether to return an expired value; if `false`, it throws
  ///     ``KeychainError/Code/expired``.
  /// - Returns: The bytes, or `nil` if there are none.
  /// - Throws: As the synchronous method.
  public func data(for key: String, allowingExpired: Bool) async throws(KeychainError) -> Data? {
    try await onWorkerThread { keychain throws(KeychainError) in
      try keychain.stored(key, allowingExpired)
    }?.data
  }

  /// Returns the value of a key, of the type that was stored, even if it has expired, without
  /// blocking.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - allowingExpired: Whether to return an expired value; if `false`, it throws
  ///     ``KeychainError/Code/expired``.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: As the synchronous method.
  public func value(for key: String, allowingExpired: Bool) async throws(KeychainError) -> Any? {
    try await onWorkerThread { keychain throws(KeychainError) in
      try keychain.stored(key, allowingExpired)
    }?.value()
  }

  /// Returns the value of a key, of a type that the caller names, even if it has expired, without
  /// blocking.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - key: The key.
  ///   - allowingExpired: Whether to return an expired value; if `false`, it throws
  ///     ``KeychainError/Code/expired``.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: As the synchronous method.
  public func value<Value: Decodable>(
    _ type: Value.Type, for key: String, allowingExpired: Bool
  ) async throws(KeychainError) -> Value? {
    try await onWorkerThread { keychain throws(KeychainError) in
      try keychain.stored(key, allowingExpired)
    }?.value(as: type)
  }
}
