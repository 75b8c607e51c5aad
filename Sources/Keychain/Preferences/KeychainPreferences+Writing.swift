internal import KeychainCredentials
internal import KeychainSecrets

extension KeychainPreferences {
  /// Writes a value; what an update leaves out, its credential keeps.
  func write(
    _ secret: borrowing SecretBytes, _ update: CredentialUpdate, for key: String
  ) throws(KeychainError) {
    let identity = identity(for: key)
    for _ in 0..<Self.maximumAttempts {
      let old = try store.credential(for: identity)
      let mode = old.map { StoreMode.replace(version: $0.version) } ?? .addOnly
      do throws(KeychainError) {
        let credential = update.applied(to: old?.successor ?? Credential(identity))
        try store.store(credential, secret: secret, mode: mode)
        return
      } catch {
        guard KeychainError.conflicts.contains(error.code) else { throw error }
      }
    }
    // So many writers are at work on this one credential that its notes can't be had in time; the
    // value must not be lost for that.
    let old = try store.credential(for: identity)
    let credential = update.applied(to: old?.successor ?? Credential(identity))
    try store.store(credential, secret: secret, mode: .addOrReplace)
  }

  private static let maximumAttempts = 16
}

extension Credential {
  /// A credential to be stored in the place of this one.
  var successor: Credential {
    Credential(
      identity, accessibility: accessibility, label: label, comment: comment,
      contentType: contentType, expires: expires, attributes: attributes)
  }
}
