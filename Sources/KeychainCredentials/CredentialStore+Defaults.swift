internal import Dispatch
public import KeychainSecrets

extension CredentialStore {
  /// Adds a credential, or replaces the one of the same identity in place.
  ///
  /// - Parameters:
  ///   - credential: The credential.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes.
  /// - Returns: The credential as it was stored.
  /// - Throws: As the requirement with a mode.
  @discardableResult
  public func store(
    _ credential: Credential, secret: borrowing SecretBytes
  ) throws(KeychainError) -> Credential {
    try store(credential, secret: secret, mode: .addOrReplace)
  }

  /// Stores a secret, and keeps what is known about its credential unless the update changes it,
  /// whether the credential exists or not.
  ///
  /// - Parameters:
  ///   - update: The changes; what is left out stays.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes; it may be empty.
  ///   - identity: What names the credential.
  /// - Returns: The credential as it was stored, and the one that it replaced.
  /// - Throws: As the requirement with a mode.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity
  ) throws(KeychainError) -> MergedCredential {
    try merge(update, secret: secret, into: identity, mode: .addOrReplace)
  }

  /// Changes what is known about a credential, whatever its version.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - update: The changes.
  /// - Returns: The credential as it is now.
  /// - Throws: As the requirement with an expected version.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate
  ) throws(KeychainError) -> Credential {
    try self.update(identity, with: update, expectedVersion: nil)
  }

  /// Gives a credential another name, whatever its version.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - newIdentity: What names it from then on.
  /// - Returns: The credential as it is now.
  /// - Throws: As the requirement with an expected version.
  @discardableResult
  public func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity
  ) throws(KeychainError) -> Credential {
    try rename(identity, to: newIdentity, expectedVersion: nil)
  }

  /// Removes a credential, whatever its version.
  ///
  /// - Parameter identity: What names the credential.
  /// - Returns: `false` if there was none.
  /// - Throws: As the requirement with an expected version.
  @discardableResult
  public func remove(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    try remove(identity, expectedVersion: nil)
  }

  /// Does work with the store on a thread of its own, so that waiting for a lock, a disk, a key
  /// derivation or a person blocks no thread of Swift's concurrency pool.
  ///
  /// ```swift
  /// let credential = try await store.perform { try $0.credential(for: identity) }
  /// ```
  ///
  /// A call that has begun runs to its end, which its deadline bounds; if the task is cancelled
  /// before it begins, nothing is done.
  ///
  /// - Parameter work: Uses the store.
  /// - Returns: What `work` returns.
  /// - Throws: What `work` throws, or ``KeychainError`` with ``KeychainError/Code/cancelled``.
  public func perform<Result: Sendable>(
    _ work: @escaping @Sendable (Self) throws -> Result
  ) async throws -> Result {
    guard !Task.isCancelled else {
      throw KeychainError(.cancelled, "the task was cancelled before the store was used")
    }
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Swift.Result { try work(self) })
      }
    }
  }
}
