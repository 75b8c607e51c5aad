internal import KeychainCredentials

/// Finds the one credential that a command line names.
struct CredentialFinder {
  let store: any CredentialStore
  let options: ItemOptions
  let defaultService: String

  let unlock: (CredentialQuery) throws(KeychainError) -> Void

  /// Explains how to unlock the stores of a query.
  let unlocking: (CredentialQuery) throws(KeychainError) -> KeychainError.Recovery

  /// Returns the identity of an account's credential.
  ///
  /// It has exactly the names in the options, unless these leave names of an internet password
  /// open. Then it is the only internet password with the given names. If there is none, it has the
  /// names in the options, and no credential will be found.
  func identity(account: String) throws -> CredentialIdentity {
    let exact = options.identity(account: account, defaultService: defaultService)
    guard options.leavesNamesOpen, try store.credential(for: exact) == nil else { return exact }
    return try identity(matching: options.query(account: account)) ?? exact
  }

  /// Returns the secret of the credential that ``identity(account:)`` finds, or the identity if
  /// there is none.
  ///
  /// Usually it reads the credential once.
  func secret(account: String) throws -> FoundSecret {
    let exact = options.identity(account: account, defaultService: defaultService)
    if let stored = try store.secret(for: exact) { return .stored(stored) }
    guard options.leavesNamesOpen,
      let identity = try identity(matching: options.query(account: account))
    else { return .missing(exact) }
    guard let stored = try store.secret(for: identity) else { return .missing(identity) }
    return .stored(stored)
  }

  /// Returns the only credential that matches a query and the options, or `nil`.
  func identity(matching query: CredentialQuery) throws -> CredentialIdentity? {
    let searcher = CredentialSearcher(store: store, unlock: unlock, unlocking: unlocking)
    let found = CredentialIdentity.withoutReplaced(
      try searcher.credentials(matching: query, where: options.matchesDetails))
    guard found.count <= 1 else { throw KeychainError.ambiguous(found.map(\.identity)) }
    return found.first?.identity
  }
}

enum FoundSecret: ~Copyable {
  case stored(StoredSecret)
  case missing(CredentialIdentity)
}
