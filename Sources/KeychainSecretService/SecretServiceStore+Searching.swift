public import KeychainCredentials

extension SecretServiceStore {
  /// Returns how many items the collection has, those of other programs included.
  ///
  /// It takes the same few messages however many there are, and most providers tell it while they are
  /// locked.
  ///
  /// - Returns: The number of items.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if the keyring is locked and tells of no
  ///   item, ``KeychainError/Code/noStore`` or ``KeychainError/Code/timedOut``.
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
  /// - Parameter query: The conditions. Other programs' items match by the names that lists show for them,
  ///   and belong to the unnamed access group.
  /// - Returns: What was found. If the keyring is locked and nobody may be asked, its items are counted.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if a locked keyring does not even tell
  ///   how many items it has, ``KeychainError/Code/noStore`` or ``KeychainError/Code/timedOut``.
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
