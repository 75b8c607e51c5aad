public import KeychainCredentials

extension SecretServiceStore {
  /// Returns the number of items in the collection, including those of other programs.
  ///
  /// It takes the same few messages for any number of items, and most providers answer while they
  /// are locked.
  ///
  /// - Returns: The number of items.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if the keyring is locked and
  ///   lists no items, ``KeychainError/Code/noStore`` or ``KeychainError/Code/timedOut``.
  public func itemCount() throws(KeychainError) -> Int {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      let count = try finder.allPaths().count
      if count == 0 { try finder.unlockIfNeeded() }
      return try count > 0 ? count : finder.allPaths().count
    }
  }

  /// Searches; see the protocol.
  ///
  /// - Parameter query: The conditions. Other programs' items match by the names that lists show,
  ///   and belong to the unnamed access group.
  /// - Returns: What was found. If the keyring is locked and no person may be asked, its items are
  ///   counted.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if a locked keyring does not
  ///   return even the number of its items, ``KeychainError/Code/noStore`` or
  ///   ``KeychainError/Code/timedOut``.
  public func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    try run { operation throws(KeychainError) in
      let finder = try ItemFinder(operation)
      do throws(KeychainError) {
        return try finder.result(of: query)
      } catch {
        guard error.code == .locked else { throw error }
        let count = try finder.allPaths().count
        guard count > 0 else { throw error }
        return CredentialSearchResult(credentials: [], lockedCount: count)
      }
    }
  }
}

extension CredentialSearchResult {
  init(items: [ServiceItem]) {
    self.init(
      credentials: items.compactMap(\.credential),
      damaged: items.filter(\.isUnreadable).map(\.name))
  }
}
