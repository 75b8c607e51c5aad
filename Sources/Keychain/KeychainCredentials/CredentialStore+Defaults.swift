internal import Dispatch
public import KeychainSecrets
internal import PrephirencesSystem

extension CredentialStore {
  /// Adds a credential, or replaces the one of the same identity in place; see the protocol.
  ///
  /// - Throws: As ``CredentialStore/set(_:secret:mode:)``.
  @discardableResult
  public func set(
    _ credential: Credential, secret: borrowing SecretBytes
  ) throws(KeychainError) -> Credential {
    try set(credential, secret: secret, mode: .addOrReplace)
  }

  /// Stores a secret, and keeps the attributes of an existing credential unless the update changes
  /// them; see the protocol.
  ///
  /// - Throws: As ``CredentialStore/merge(_:secret:into:mode:)``.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity
  ) throws(KeychainError) -> MergedCredential {
    try merge(update, secret: secret, into: identity, mode: .addOrReplace)
  }

  /// Changes a credential of any version, but not its secret.
  ///
  /// - Throws: As ``CredentialStore/update(_:with:expectedVersion:)``.
  @discardableResult
  public func update(
    _ identity: CredentialIdentity, with update: CredentialUpdate
  ) throws(KeychainError) -> Credential {
    try self.update(identity, with: update, expectedVersion: nil)
  }

  /// Renames a credential of any version.
  ///
  /// - Throws: As ``CredentialStore/rename(_:to:expectedVersion:)``.
  @discardableResult
  public func rename(
    _ identity: CredentialIdentity, to newIdentity: CredentialIdentity
  ) throws(KeychainError) -> Credential {
    try rename(identity, to: newIdentity, expectedVersion: nil)
  }

  /// Removes a credential of any version; `false` if there was none.
  ///
  /// - Throws: As ``CredentialStore/remove(_:expectedVersion:)``.
  @discardableResult
  public func remove(_ identity: CredentialIdentity) throws(KeychainError) -> Bool {
    try remove(identity, expectedVersion: nil)
  }

  /// Removes a credential of a store that no other program shares; `false` if there was none.
  ///
  /// - Throws: As ``CredentialStore/remove(_:expectedVersion:)``.
  @discardableResult
  public func remove(
    _ identity: CredentialIdentity, expectedVersion: UInt64?, includingOtherPrograms: Bool
  ) throws(KeychainError) -> Bool { try remove(identity, expectedVersion: expectedVersion) }

  /// Does work with the store on another thread, so that waiting for a lock, a disk, a key
  /// derivation or a person blocks no thread of Swift's concurrency pool.
  ///
  /// ```swift
  /// let credential = try await store.perform { try $0.credential(for: identity) }
  /// ```
  ///
  /// If the task is cancelled before the work begins, nothing is done. Work that has begun runs to
  /// its end, which its deadline limits.
  ///
  /// - Throws: What `work` throws, or ``KeychainError`` with ``KeychainError/Code/cancelled``.
  public func perform<Result: ~Copyable & Sendable>(
    _ work: @escaping @Sendable (Self) throws -> Result
  ) async throws -> Result {
    guard !Task.isCancelled else {
      throw KeychainError(.cancelled, "the task was cancelled before the store was used")
    }
    let handover = Handover<Result>()
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        handover.result = Swift.Result { try work(self) }
        continuation.resume()
      }
    }
    return try handover.take()
  }

  /// Stores a secret, and keeps the attributes of its credential unless the update changes them;
  /// see the protocol.
  ///
  /// The credential is read, and stored if its version is still the same. If others change it in
  /// between, this is repeated for up to ten seconds.
  ///
  /// - Throws: ``KeychainError`` of the store, or with ``KeychainError/Code/timedOut``.
  @discardableResult
  public func merge(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode
  ) throws(KeychainError) -> MergedCredential {
    try mergeByVersion(update, secret: secret, into: identity, mode: mode, within: .seconds(10))
  }

  /// Merges as ``merge(_:secret:into:mode:)`` does, by reading and storing, until a deadline.
  package func mergeByVersion(
    _ update: CredentialUpdate, secret: borrowing SecretBytes, into identity: CredentialIdentity,
    mode: StoreMode, within time: Duration
  ) throws(KeychainError) -> MergedCredential {
    let deadline = Deadline(after: time)
    while true {
      // The store itself checks that the credential does not exist.
      let old = try mode == .addOnly ? nil : credential(for: identity)
      try mode.check(old, identity: identity)
      var readMode = mode
      if mode == .addOrReplace { readMode = old.map { .replace(version: $0.version) } ?? .addOnly }
      do throws(KeychainError) {
        let merged = update.applied(to: old ?? Credential(identity))
        let stored = try set(merged, secret: secret, mode: readMode)
        return MergedCredential(credential: stored, replaced: old)
      } catch let error where mode == .addOrReplace && error.isConflict {
        guard !deadline.hasPassed else { throw .changedTooOften(identity, for: time) }
      }
      Deadline.pause()
    }
  }
}

/// Hands a result, which need not be copyable, from one thread to another.
private final class Handover<Success: ~Copyable & Sendable>: @unchecked Sendable {
  // Unchecked because the continuation, which the one thread resumes after its last use, orders
  // both.
  var result = Result<Success, any Error>.failure(CancellationError())

  func take() throws -> Success {
    var taken = Result<Success, any Error>.failure(CancellationError())
    swap(&taken, &result)
    return try taken.get()
  }
}

extension KeychainError {
  /// Whether a write failed because another program changed the credential after it was read.
  package var isConflict: Bool { [.versionConflict, .alreadyExists, .notFound].contains(code) }

  /// The error for a credential that others changed each time between reading and writing.
  package static func changedTooOften(_ identity: CredentialIdentity, for time: Duration) -> Self {
    Self(.timedOut, "others kept changing \(identity) for \(time)", recovery: .tryAgain)
  }
}
