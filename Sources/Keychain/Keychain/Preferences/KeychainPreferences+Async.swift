public import Foundation
public import KeychainCredentials
public import KeychainSecrets
internal import Prephirences

// The same methods for asynchronous code, where the compiler prefers them. The store is used on
// another thread; values are encoded and decoded where the caller runs, so they need not be
// `Sendable`.
extension KeychainPreferences {
  /// Does work on another thread, so that waiting blocks no thread of Swift's concurrency pool.
  ///
  /// Use it for several calls in a row. Inside `work`, the throwing methods are the synchronous
  /// ones.
  ///
  /// - Parameter work: Uses the preferences.
  /// - Returns: What `work` returns.
  /// - Throws: What `work` throws, or ``KeychainError`` with ``KeychainError/Code/cancelled`` if the
  ///   task was cancelled before the work began.
  public func perform<Result: Sendable>(
    _ work: @escaping @Sendable (KeychainPreferences) throws -> Result
  ) async throws -> Result {
    try await store.perform { _ in try work(self) }
  }

  /// Returns the secret of a key, in guarded memory, without blocking.
  ///
  /// - Parameter key: The key.
  /// - Returns: The bytes as they are stored, or `nil` if there are none.
  /// - Throws: ``KeychainError``, such as ``KeychainError/Code/locked`` or
  ///   ``KeychainError/Code/expired``.
  public func secret(for key: String) async throws(KeychainError) -> SecretBytes? {
    guard
      let value = try await onWorkerThread({ keychain throws(KeychainError) in
        try keychain.stored(key)
      })
    else { return nil }
    return try value.secret.copy()
  }

  /// Returns the text of a key, whatever was stored, without blocking.
  ///
  /// - Parameter key: The key.
  /// - Returns: The text, or `nil` if there is none.
  /// - Throws: As the synchronous method.
  public func string(for key: String) async throws(KeychainError) -> String? {
    try await onWorkerThread { keychain throws(KeychainError) in try keychain.stored(key) }?
      .string()
  }

  /// Returns the bytes of a key, whatever was stored, without blocking.
  ///
  /// - Parameter key: The key.
  /// - Returns: The bytes, or `nil` if there are none.
  /// - Throws: As the synchronous method.
  public func data(for key: String) async throws(KeychainError) -> Data? {
    try await onWorkerThread { keychain throws(KeychainError) in try keychain.stored(key) }?.data
  }

  /// Returns the value of a key, of the type that was stored, without blocking.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: As the synchronous method.
  public func value(for key: String) async throws(KeychainError) -> Any? {
    try await onWorkerThread { keychain throws(KeychainError) in try keychain.stored(key) }?.value()
  }

  /// Returns the value of a key, of a type that the caller names, without blocking.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - key: The key.
  /// - Returns: The value, or `nil` if there is none.
  /// - Throws: As the synchronous method.
  public func value<Value: Decodable>(
    _ type: Value.Type, for key: String
  ) async throws(KeychainError) -> Value? {
    try await onWorkerThread { keychain throws(KeychainError) in try keychain.stored(key) }?.value(
      as: type)
  }

  /// Stores a value without blocking.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  /// - Throws: As the synchronous method.
  public func set(_ value: Any?, for key: String) async throws(KeychainError) {
    guard let value = unwrapped(value) else {
      try await removeValue(for: key)
      return
    }
    let stored = try StoredValue(encoding: value)
    try await onWorkerThread { keychain throws(KeychainError) in
      try keychain.store(stored.secret.bytes, contentType: stored.contentType, for: key)
    }
  }

  /// Stores a secret without blocking, and without a copy outside guarded memory.
  ///
  /// - Parameters:
  ///   - secret: The bytes.
  ///   - key: The key.
  /// - Throws: As the synchronous method.
  public func set(_ secret: borrowing SecretBytes, for key: String) async throws(KeychainError) {
    let secret = try SharedSecret(copying: secret)
    try await onWorkerThread { keychain throws(KeychainError) in
      try keychain.store(secret.bytes, contentType: nil, for: key)
    }
  }

  /// Removes a key with its value, without blocking.
  ///
  /// - Parameter key: The key.
  /// - Returns: `false` if there was no value.
  /// - Throws: As the synchronous method.
  @discardableResult
  public func removeValue(for key: String) async throws(KeychainError) -> Bool {
    try await onWorkerThread { keychain throws(KeychainError) in try keychain.removeValue(for: key)
    }
  }

  /// Removes all keys of this service (or server) and access group, without blocking.
  ///
  /// - Throws: As the synchronous method.
  public func removeAll() async throws(KeychainError) {
    try await onWorkerThread { keychain throws(KeychainError) in try keychain.removeAll() }
  }

  /// Returns the keys of this service (or server) and access group, without blocking.
  ///
  /// - Returns: The keys, ordered by their bytes.
  /// - Throws: As the synchronous method.
  public func allKeys() async throws(KeychainError) -> [String] {
    try await onWorkerThread { keychain throws(KeychainError) in try keychain.allKeys() }
  }

  /// Returns whether a key has a value, without blocking.
  ///
  /// - Parameter key: The key.
  /// - Returns: `true` if there is a value, expired or not.
  /// - Throws: As the synchronous method.
  public func contains(_ key: String) async throws(KeychainError) -> Bool {
    try await onWorkerThread { keychain throws(KeychainError) in try keychain.contains(key) }
  }

  /// Returns the credential of a key, without blocking.
  ///
  /// - Parameter key: The key.
  /// - Returns: The credential, or `nil` if there is none.
  /// - Throws: As the synchronous method.
  public func credential(for key: String) async throws(KeychainError) -> Credential? {
    try await onWorkerThread { keychain throws(KeychainError) in try keychain.credential(for: key) }
  }

  /// Changes the credential of a key, without blocking.
  ///
  /// - Parameters:
  ///   - update: The changes.
  ///   - key: The key.
  /// - Returns: The changed credential.
  /// - Throws: As the synchronous method.
  @discardableResult
  public func update(
    _ update: CredentialUpdate, for key: String
  ) async throws(KeychainError) -> Credential {
    try await onWorkerThread { keychain throws(KeychainError) in
      try keychain.update(update, for: key)
    }
  }

  /// Renames a key in one step, without blocking.
  ///
  /// - Parameters:
  ///   - key: The key, which has no value afterwards.
  ///   - newKey: The new key, which must not have a value yet.
  /// - Returns: The changed credential.
  /// - Throws: As the synchronous method.
  @discardableResult
  public func rename(_ key: String, to newKey: String) async throws(KeychainError) -> Credential {
    try await onWorkerThread { keychain throws(KeychainError) in
      try keychain.rename(key, to: newKey)
    }
  }

  func onWorkerThread<Result: Sendable>(
    _ work: @escaping @Sendable (KeychainPreferences) throws(KeychainError) -> Result
  ) async throws(KeychainError) -> Result {
    do {
      return try await perform { try work($0) }
    } catch let error as KeychainError {
      throw error
    } catch {
      // `perform` throws only what `work` throws, and cancellation.
      throw KeychainError(.internalFailure, "the store failed with an error of another type")
    }
  }
}
