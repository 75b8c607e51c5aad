internal import Glibc
public import KeychainSecrets

extension CredentialStore {
  /// Stores a secret, and keeps what is known about its credential unless the update changes it; see the
  /// protocol.
  ///
  /// The credential is read, and stored if it still has the version that was read. If others are faster,
  /// this is done again for ten seconds.
  ///
  /// - Parameters:
  ///   - update: The changes; what is left out stays.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes; it may be empty.
  ///   - identity: What names the credential.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The credential as it was stored, and the one that it replaced.
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
    let end = ContinuousClock.now + time
    while true {
      // The store itself checks that a credential is new.
      let old = try mode == .addOnly ? nil : credential(for: identity)
      try mode.check(old, identity: identity)
      var readMode = mode
      if mode == .addOrReplace { readMode = old.map { .replace(version: $0.version) } ?? .addOnly }
      do throws(KeychainError) {
        let merged = update.applied(to: old ?? Credential(identity))
        let stored = try store(merged, secret: secret, mode: readMode)
        return MergedCredential(credential: stored, replaced: old)
      } catch {
        guard mode == .addOrReplace, error.isConflict else { throw error }
        guard .now < end else { throw .changedTooOften(identity, for: time) }
      }
      usleep(.random(in: 500...10_000))
    }
  }
}

extension KeychainError {
  /// Whether a write failed because somebody else changed the credential after it was read.
  package var isConflict: Bool {
    [.versionConflict, .alreadyExists, .notFound].contains(code)
  }

  /// That others changed a credential each time between its reading and its writing.
  package static func changedTooOften(
    _ identity: CredentialIdentity, for time: Duration
  ) -> Self {
    Self(.timedOut, "others kept changing \(identity) for \(time)", recovery: "try again")
  }
}
