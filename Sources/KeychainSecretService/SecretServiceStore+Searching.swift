public import KeychainCredentials

extension SecretServiceStore {
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

extension ItemFinder {
  func result(of query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    var result = try contents(of: query)
    // KeePassXC's own entries and some programs' items have other names for a service.
    if result.credentials.isEmpty, query.service ?? query.server != nil,
      query.accessGroup?.isEmpty ?? true
    {
      var broad = query
      broad.service = nil
      broad.server = nil
      let others = try contents(of: broad, matching: query)
      result.credentials = others.credentials
    }
    return result
  }

  private func contents(
    of query: CredentialQuery, matching condition: CredentialQuery? = nil
  ) throws(KeychainError) -> CredentialSearchResult {
    let attributes = ItemAttributes.search(for: query)
    let found: [String]
    if attributes.isEmpty {
      try unlockIfNeeded()
      found = try allPaths()
    } else {
      found = try paths([attributes]).first ?? []
    }
    let items = try items(found)
    let credentials = items.compactMap { $0.ours ?? $0.foreign }
    return CredentialSearchResult(
      credentials: credentials.filter((condition ?? query).matches),
      lockedCount: 0, damaged: items.filter(\.isUnreadable).map(\.name))
  }

  /// All items of the collection: KeePassXC finds none in a search without conditions.
  func allPaths() throws(KeychainError) -> [String] {
    let answer = try operation.answer(
      to: operation.getProperty(collection, ServiceOperation.collectionInterface, "Items"))
    return answer.elements.first?.texts ?? []
  }
}

extension ServiceItem {
  fileprivate var isUnreadable: Bool {
    switch contents {
    case .damaged, .newerFormat: true
    case .ours, .foreign, .unnamed: false
    }
  }
}
