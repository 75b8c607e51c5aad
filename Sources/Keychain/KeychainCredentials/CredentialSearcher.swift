/// Searches where exactly one credential, or none, must be found.
package struct CredentialSearcher {
  private let store: any CredentialStore
  private let unlock: (CredentialQuery) throws(KeychainError) -> Void
  private let unlocking: (CredentialQuery) throws(KeychainError) -> KeychainError.Recovery

  /// Creates a searcher.
  package init(
    store: any CredentialStore,
    unlock: @escaping (CredentialQuery) throws(KeychainError) -> Void,
    unlocking: @escaping (CredentialQuery) throws(KeychainError) -> KeychainError.Recovery
  ) {
    self.store = store
    self.unlock = unlock
    self.unlocking = unlocking
  }

  /// Returns the credentials that match a query and a condition.
  package func credentials(
    matching query: CredentialQuery, where isMatch: (Credential) -> Bool
  ) throws(KeychainError) -> [Credential] {
    var result = try store.search(query)
    var found = result.credentials.filter(isMatch)
    if found.isEmpty, result.lockedCount > 0 {
      // The search does not unlock by itself, because it cannot know whether that would help.
      try unlock(query)
      result = try store.search(query)
      found = result.credentials.filter(isMatch)
    }
    guard found.isEmpty else { return found }
    let recovery: KeychainError.Recovery =
      result.lockedCount > 0 ? try unlocking(query) : .unlock
    if let failure = KeychainError(incomplete: result, unlocking: recovery) { throw failure }
    return []
  }
}
