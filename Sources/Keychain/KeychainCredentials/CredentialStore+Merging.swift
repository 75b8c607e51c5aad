public import KeychainSecrets
internal import PrephirencesSystem

extension CredentialStore {
  /// Stores a secret, and keeps the attributes of its credential unless the update changes them;
  /// see the protocol.
  ///
  /// The credential is read, and stored if its version is still the same. If others change it in
  /// between, this is repeated for up to ten seconds.
  ///
  /// - Parameters:
  ///   - update: The changes; everything else stays.
  ///   - secret: At most ``Credential/maximumSecretCount`` bytes; it may be empty.
  ///   - identity: The identity of the credential.
  ///   - mode: Whether there must or must not be one of this identity already.
  /// - Returns: The stored credential, and the one that it replaced.
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
        let stored = try store(merged, secret: secret, mode: readMode)
        return MergedCredential(credential: stored, replaced: old)
      } catch {
        guard mode == .addOrReplace, error.isConflict else { throw error }
        guard !deadline.hasPassed else { throw .changedTooOften(identity, for: time) }
      }
      Deadline.pause()
    }
  }
}

extension KeychainError {
  /// Whether a write failed because another program changed the credential after it was read.
  package var isConflict: Bool {
    [.versionConflict, .alreadyExists, .notFound].contains(code)
  }

  /// The error for a credential that others changed each time between reading and writing.
  package static func changedTooOften(
    _ identity: CredentialIdentity, for time: Duration
  ) -> Self {
    Self(.timedOut, "others kept changing \(identity) for \(time)", recovery: .tryAgain)
  }
}
