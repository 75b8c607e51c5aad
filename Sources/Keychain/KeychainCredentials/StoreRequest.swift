/// What a caller asks a store to keep, of which the rules have been checked.
///
/// A request is made where the call begins, before a store is recorded, created or unlocked for it.
package struct StoreRequest: Sendable {
  /// The credential as it is stored if there is none yet.
  package let new: Credential

  /// Whether there must or must not be one.
  package let mode: StoreMode

  /// Whether the dates of the credential are kept: it comes from another store.
  package let keepsDates: Bool

  /// What is changed of a credential that exists; `nil` if nothing of it is kept.
  package let update: CredentialUpdate?

  /// Asks for a credential in place of the one that has its identity.
  package init(
    _ credential: Credential, secretCount: Int, mode: StoreMode, keepsDates: Bool = false
  ) throws(KeychainError) {
    (new, update, self.mode, self.keepsDates) = (credential, nil, mode, keepsDates)
    try new.checkRules(secretCount: secretCount)
  }

  /// Asks for a secret, and keeps what the update does not change.
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

  /// Returns what takes the place of a credential.
  package func credential(replacing old: Credential?) throws(KeychainError) -> Credential {
    guard let old, let update else { return new }
    let merged = update.applied(to: old)
    // The texts that are kept count, too.
    try merged.checkRules(secretCount: nil)
    return merged
  }
}
