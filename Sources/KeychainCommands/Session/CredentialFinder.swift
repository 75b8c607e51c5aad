internal import KeychainCredentials

/// Finds the one credential that a command line means.
struct CredentialFinder {
  let store: any CredentialStore
  let options: ItemOptions
  let defaultService: String

  /// Unlocks the stores that a query concerns as far as that can be done, or throws.
  let unlock: (CredentialQuery) throws(KeychainError) -> Void

  /// Narrows down a search that names no service.
  var narrow: (CredentialQuery) -> CredentialQuery = { $0 }

  /// That a credential is not there, with what a person may have meant.
  var notFound: (CredentialIdentity) -> KeychainError = { .notFound($0) }

  /// That no credential has some attributes.
  var nothingMatches: (CredentialAttributes) -> KeychainError = { .nothingMatches($0) }

  /// Makes the failure of a search that found nothing but locked items.
  var lockedItems: (Int, CredentialQuery) -> KeychainError = { count, _ in .lockedItems(count) }

  /// The credential of an account.
  ///
  /// The one of exactly the names given is preferred. Without it, an internet password is found
  /// when it is the only one with the names that are given.
  ///
  /// - Parameter account: The account.
  /// - Returns: The identity, or `nil` if there is none.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/ambiguous`` if several are meant, and
  ///   ``KeychainError/Code/locked`` if only locked ones could be.
  func identity(account: String) throws(KeychainError) -> CredentialIdentity? {
    let exact = exactIdentity(account: account)
    guard options.leavesNamesOpen, try store.credential(for: exact) == nil else { return exact }
    return try only(matching: options.query(account: account))
  }

  /// As ``identity(account:)``, but none is an error.
  func existing(account: String) throws(KeychainError) -> CredentialIdentity {
    guard let found = try identity(account: account) else {
      throw notFound(exactIdentity(account: account))
    }
    return found
  }

  /// The identity of exactly the names given.
  func exactIdentity(account: String) -> CredentialIdentity {
    options.identity(account: account, defaultService: defaultService)
  }

  /// The only credential with some attributes, and the other names as far as they are given.
  ///
  /// - Parameters:
  ///   - attributes: The attributes.
  ///   - account: The account, if it is given.
  /// - Returns: The identity, or `nil` if there is none.
  /// - Throws: As ``identity(account:)``.
  func identity(
    attributes: CredentialAttributes, account: String?
  ) throws(KeychainError) -> CredentialIdentity? {
    try only(matching: narrow(options.query(account: account, attributes: attributes)))
  }

  private func only(matching query: CredentialQuery) throws(KeychainError) -> CredentialIdentity? {
    var result = try store.search(query)
    if result.credentials.isEmpty, result.lockedCount > 0 {
      // A search alone unlocks nothing, as it cannot know whether that would help.
      try unlock(query)
      result = try store.search(query)
    }
    let found = result.credentials.filter(options.matchesDetails)
    guard found.count <= 1 else { throw .ambiguous(found.map(\.identity)) }
    if let credential = found.first { return credential.identity }
    // What cannot be read may be what is meant, so this is not absence.
    if let failure = result.failures.first { throw failure }
    guard result.damaged.isEmpty else { throw .damagedItems(result.damaged) }
    guard result.lockedCount == 0 else { throw lockedItems(result.lockedCount, query) }
    guard result.otherDeviceCount == 0 else { throw .otherDeviceItems(result.otherDeviceCount) }
    return nil
  }
}
