/// The change of a credential that a caller requests, after its rules were checked.
///
/// A request is made at the beginning of a call, before a store is recorded, created or unlocked
/// for it.
package struct StoreRequest: Sendable {
  /// The credential to store if there is none yet.
  package let new: Credential

  /// Whether the identity must, may or must not exist.
  package let mode: StoreMode

  /// Whether the credential keeps its dates, because it comes from another store.
  package let keepsDates: Bool

  /// The changes of an existing credential; `nil` to replace all of it.
  package let update: CredentialUpdate?

  /// Creates a request to add a credential, or to replace the one with its identity.
  package init(
    _ credential: Credential, secretCount: Int, mode: StoreMode, keepsDates: Bool = false
  ) throws(KeychainError) {
    (new, update, self.mode, self.keepsDates) = (credential, nil, mode, keepsDates)
    try new.checkRules(secretCount: secretCount)
  }

  /// Creates a request to store a secret, and to keep what the update does not change.
  package init(
    _ update: CredentialUpdate, into identity: CredentialIdentity, secretCount: Int,
    mode: StoreMode
  ) throws(KeychainError) {
    (new, self.update) = (update.applied(to: Credential(identity)), update)
    (self.mode, keepsDates) = (mode, false)
    try new.checkRules(secretCount: secretCount)
  }

  package var identity: CredentialIdentity { new.identity }

  /// The accessibility that the caller names; `nil` if an existing credential keeps its own.
  package var accessibility: Accessibility? {
    if let update { update.accessibility } else { new.accessibility }
  }

  /// Returns the credential that replaces an old one.
  package func credential(replacing old: Credential?) throws(KeychainError) -> Credential {
    guard let old, let update else { return new }
    let merged = update.applied(to: old)
    // Texts that are kept also count.
    try merged.checkRules(secretCount: nil)
    return merged
  }
}
