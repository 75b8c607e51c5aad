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

extension ItemFinder {
  fileprivate func result(of query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult
  {
    guard query.hasNoNames else { return CredentialSearchResult(items: try items(matching: query)) }
    let found = try items(foundBy: query)
    var result = CredentialSearchResult(
      items: found.filter { $0.isUnreadable || $0.matches(query) })
    result.unlistedCount = found.count { $0.isUnlisted(by: query) }
    return result
  }

  /// The items that match a query, and those that may, but cannot be read.
  func items(matching query: CredentialQuery) throws(KeychainError) -> [ServiceItem] {
    let found = try items(foundBy: query).filter { $0.isUnreadable || $0.matches(query) }
    guard found.allSatisfy(\.isUnreadable), query.service ?? query.server != nil,
      query.accessGroup?.isEmpty ?? true
    else { return found }
    // KeePassXC's own entries and some programs' items have other names for a service.
    var broad = query
    broad.service = nil
    broad.server = nil
    return try found + items(foundBy: broad).filter { $0.matches(query) }
  }

  func items(foundBy query: CredentialQuery) throws(KeychainError) -> [ServiceItem] {
    let attributes = ItemAttributes.search(for: query)
    guard attributes.isEmpty else { return try items(paths([attributes]).first ?? []) }
    try unlockIfNeeded()
    return try items(allPaths())
  }

  /// All items of the collection: KeePassXC finds none in a search without conditions.
  func allPaths() throws(KeychainError) -> [String] {
    let answer = try operation.answer(
      to: operation.getProperty(
        collection, ServiceOperation.collectionInterface, "Items", "ao"))
    return answer.elements.first?.texts ?? []
  }
}

extension CredentialSearchResult {
  init(items: [ServiceItem]) {
    self.init(
      credentials: items.compactMap(\.credential),
      damaged: items.filter(\.isUnreadable).map(\.name))
  }
}

extension ServiceItem {
  fileprivate func matches(_ query: CredentialQuery) -> Bool {
    credential.map(query.matches) ?? false
  }

  /// Whether another program's item has the attributes that are looked for, and none of its names matches.
  func isUnlisted(by query: CredentialQuery) -> Bool {
    ours == nil && !isUnreadable && attributes.contains(query.attributes) && !matches(query)
  }

  fileprivate var isUnreadable: Bool {
    switch contents {
    case .damaged, .newerFormat: true
    case .ours, .foreign, .unnamed: false
    }
  }
}
