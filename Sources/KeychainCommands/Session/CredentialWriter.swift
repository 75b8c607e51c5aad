internal import Foundation
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

  /// Whether the expiry of an older secret holds for the new one, if nothing is said about it.
  var keepsExpiry = false

  /// What became of a secret.
  struct Written {
    /// The credential as it is now.
    let credential: Credential

    /// The expiry of the older secret, which went with it although nothing was said about it.
    let lostExpiry: Date?
  }

  /// Stores a secret.
  ///
  /// - Parameters:
  ///   - identity: What names the credential.
  ///   - update: What is said about it. The expiry and the content type belong to the secret: if
  ///     nothing is said, those of an older secret go, except an expiry that is to be kept.
  ///   - secret: The secret.
  ///   - condition: What must hold of the credential that is there.
  /// - Returns: What was stored, and what went.
  /// - Throws: What the store throws.
  func write(
    _ identity: CredentialIdentity, update: CredentialUpdate, secret: borrowing SecretBytes,
    condition: Condition
  ) throws(KeychainError) -> Written {
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
  ) throws(KeychainError) -> Written {
    var old: Credential?
    var modeOfNew = StoreMode.addOnly
    do throws(KeychainError) {
      if condition != .mustBeNew { old = try store.credential(for: identity) }
    } catch {
      // Beside several items of other programs, ours is the one that is meant from then on.
      guard error.code == .ambiguous, condition == .none else { throw error }
      modeOfNew = .addOrReplace
    }
    var base = old ?? Credential(identity)
    if !keepsExpiry { base.expires = nil }
    base.contentType = nil
    let mode: StoreMode =
      switch condition {
      case .none: old.map { .replace(version: $0.version) } ?? modeOfNew
      case .mustBeNew: .addOnly
      case .mustHave(let version): .replace(version: version)
      }
    let stored = try store.store(update.applied(to: base), secret: secret, mode: mode)
    let isUnsaid = if case .keep = update.expires { true } else { false }
    return Written(
      credential: stored, lostExpiry: isUnsaid && !keepsExpiry ? old?.expires : nil)
  }
}
