internal import KeychainCredentials

/// Finds the one credential that a command line refers to.
struct CredentialFinder {
  let store: any CredentialStore
  let options: ItemOptions
  let defaultService: String

  /// Unlocks the stores of a query, or throws.
  let unlock: (CredentialQuery) throws(KeychainError) -> Void

  /// Returns how a person unlocks the stores of a query.
  let unlocking: (CredentialQuery) throws(KeychainError) -> KeychainError.Recovery

  /// Returns the identity of an account's credential.
  ///
  /// Its names are exactly the options', unless these leave names of an internet password open.
  /// Then it is the only internet password with the given names; if there is none, the names are
  /// the options', and no credential will be found.
  ///
  /// - Parameter account: The account.
  /// - Returns: The identity; the credential need not exist.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/ambiguous`` if several match, or as for
  ///   an incomplete search.
  func identity(account: String) throws(KeychainError) -> CredentialIdentity {
    let exact = options.identity(account: account, defaultService: defaultService)
    guard options.leavesNamesOpen, try store.credential(for: exact) == nil else { return exact }
    return try identity(matching: options.query(account: account)) ?? exact
  }

  /// Searches for the only credential that matches a query, and the options.
  ///
  /// - Parameter query: The conditions.
  /// - Returns: The identity, or `nil` if there is none.
  /// - Throws: As ``identity(account:)``.
  func identity(matching query: CredentialQuery) throws(KeychainError) -> CredentialIdentity? {
    let searcher = CredentialSearcher(store: store, unlock: unlock, unlocking: unlocking)
    let found = CredentialIdentity.withoutReplaced(
      try searcher.credentials(matching: query, where: options.matchesDetails))
    guard found.count <= 1 else { throw .ambiguous(found.map(\.identity)) }
    return found.first?.identity
  }
}
