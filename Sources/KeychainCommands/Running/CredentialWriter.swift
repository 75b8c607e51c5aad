internal import KeychainCredentials
internal import KeychainSecrets

/// Stores secrets in place: what is known about a credential stays unless something else is said.
struct CredentialWriter {
  /// What must hold of the credential that is there.
  enum Condition: Hashable {
    case none
    case mustBeNew
    case mustHave(version: UInt64)
  }

  let store: any CredentialStore

  /// How long to go on when others change the same credential.
  let patience: Duration

  /// Whether an empty secret may take the place of another one.
  var allowsEmpty = false

  /// Stores a secret.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - update: What is said about it. The expiry and the content type belong to the secret: if
  ///     nothing is said, those of an older secret go.
  ///   - secret: The secret.
  ///   - condition: What must hold of the credential that is there.
  /// - Throws: What the store throws, and ``KeychainError`` with
  ///   ``KeychainError/Code/invalidArgument`` if an empty secret would replace another one and may not.
  func write(
    _ identity: CredentialIdentity, update: CredentialUpdate, secret: borrowing SecretBytes,
    condition: Condition
  ) throws(KeychainError) {
    let end = ContinuousClock.now + patience
    while true {
      do throws(KeychainError) {
        return try attempt(identity, update: update, secret: secret, condition: condition)
      } catch {
        // Somebody else was faster; what they wrote is the base of the next attempt.
        let isRace = error.code == .versionConflict || error.code == .alreadyExists
        guard condition == .none, isRace, ContinuousClock.now < end else { throw error }
      }
    }
  }

  private func attempt(
    _ identity: CredentialIdentity, update: CredentialUpdate, secret: borrowing SecretBytes,
    condition: Condition
  ) throws(KeychainError) {
    var old: Credential?
    var modeOfNew = StoreMode.addOnly
    do throws(KeychainError) {
      if condition != .mustBeNew { old = try store.credential(for: identity) }
    } catch {
      // Beside several items of other programs, ours is the one that is meant from then on.
      guard error.code == .ambiguous, condition == .none else { throw error }
      modeOfNew = .addOrReplace
    }
    // A command before the pipe that failed must not cost the secret that is there.
    guard old == nil || secret.count > 0 || allowsEmpty else { throw .emptyReplacement(identity) }
    var base = old ?? Credential(identity)
    base.expires = nil
    base.contentType = nil
    let mode: StoreMode =
      switch condition {
      case .none: old.map { .replace(version: $0.version) } ?? modeOfNew
      case .mustBeNew: .addOnly
      case .mustHave(let version): .replace(version: version)
      }
    try store.store(update.applied(to: base), secret: secret, mode: mode)
  }
}
