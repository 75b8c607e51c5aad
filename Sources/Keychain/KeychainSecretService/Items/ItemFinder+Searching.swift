internal import KeychainCredentials

extension ItemFinder {
  func result(of query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    guard query.hasNoNames else { return CredentialSearchResult(items: try items(matching: query)) }
    let found = try items(foundBy: query)
    var result = CredentialSearchResult(
      items: found.filter { $0.isUnreadable || $0.matches(query) })
    result.unlistedCount = found.count { $0.isUnlisted(by: query) }
    return result
  }

  /// Returns the items that match a query, and those that may match but cannot be read.
  func items(matching query: CredentialQuery) throws(KeychainError) -> [ServiceItem] {
    let found = try items(foundBy: query).filter { $0.isUnreadable || $0.matches(query) }
    guard found.allSatisfy(\.isUnreadable), query.service ?? query.server != nil,
      query.accessGroup?.isEmpty ?? true
    else { return found }
    // KeePassXC's own entries and some programs' items use other attributes for the service.
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

  /// Returns all items of the collection: in KeePassXC, a search without conditions finds none.
  func allPaths() throws(KeychainError) -> [String] {
    let answer = try operation.answer(
      to: operation.getProperty(
        collection, ServiceOperation.collectionInterface, "Items", "ao"))
    return answer.elements.first?.texts ?? []
  }
}

extension ServiceItem {
  fileprivate func matches(_ query: CredentialQuery) -> Bool {
    credential.map(query.matches) ?? false
  }

  /// Returns whether another program's item has the attributes of the query, but no matching name.
  func isUnlisted(by query: CredentialQuery) -> Bool {
    ours == nil && !isUnreadable && attributes.contains(query.attributes) && !matches(query)
  }

  var isUnreadable: Bool {
    switch contents {
    case .damaged, .newerFormat: true
    case .ours, .foreign, .unnamed: false
    }
  }
}

extension CredentialQuery {
  /// Whether the query has only attributes, and includes the group of other programs' items.
  var hasNoNames: Bool {
    accessGroup?.isEmpty ?? true
      && [service, server, self.protocol, path, account].allSatisfy { $0 == nil } && port == nil
  }
}
