internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

/// A search within one transaction.
struct VaultSearch {
  let rows: any VaultRows
  let sealing: ItemSealing
  let proven: ProvenVault
  private var groups: AccessGroupNames
  private var result = CredentialSearchResult(credentials: [])

  init(rows: any VaultRows, sealing: ItemSealing, proven: ProvenVault) {
    self.rows = rows
    self.sealing = sealing
    self.proven = proven
    groups = AccessGroupNames(rows: rows, sealing: sealing)
  }

  /// Finds the matching items.
  ///
  /// Those that are damaged are named, and the tree proves that none is missing.
  mutating func run(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    for (id, item) in try candidates(query) { try add(item, id: id, query) }
    return matching(query)
  }

  /// Finds matching items without proving that none is missing, and examines at most `limit`.
  mutating func runByIndex(
    _ query: CredentialQuery, limit: Int
  ) throws(KeychainError) -> CredentialSearchResult {
    let tokens = try sealing.queryTokens(of: query)
    guard !tokens.isEmpty else { return try run(query) }
    let tree = proven.items(rows)
    for id in try rows.items(withEach: tokens).prefix(limit) {
      try add(try intactItem(id, tree), id: id, query)
    }
    return matching(query)
  }

  /// Whether there is an item that matches, as far as tokens show.
  mutating func finds(_ query: CredentialQuery) throws(KeychainError) -> Bool {
    guard try !sealing.queryTokens(of: query).isEmpty else { return proven.state.items.count > 0 }
    return try !candidates(query).isEmpty
  }

  /// Returns the items that have the tokens of a query, without their secrets, and `nil` for those
  /// whose rows are not the ones that the tree lists.
  mutating func candidates(
    _ query: CredentialQuery
  ) throws(KeychainError) -> [(id: Data, item: ItemRow?)] {
    let tokens = try sealing.queryTokens(of: query)
    var found: [(id: Data, item: ItemRow?)] = []
    if tokens.isEmpty {
      found = try AllItems(rows, proven).items
    } else {
      let tree = proven.items(rows)
      let (token, ids) = try proven.items(withRarestOf: tokens, in: rows, sealing.keys)
      for id in ids {
        let item = try intactItem(id, tree)
        if let item, !item.has([token]) { throw .damagedTree(.tokens) }
        if item?.has(tokens) ?? true { found.append((id, item)) }
      }
    }
    guard query.accessGroup == "" else { return found }
    var unnamed: [(id: Data, item: ItemRow?)] = []
    for (id, item) in found {
      if let item, try groups.hasGroup(item) { continue }
      unnamed.append((id, item))
    }
    return unnamed
  }

  /// Returns the found items that match: two names can share a token.
  private func matching(_ query: CredentialQuery) -> CredentialSearchResult {
    CredentialSearchResult(
      credentials: result.credentials.filter(query.matches), lockedCount: result.lockedCount,
      damaged: result.damaged, otherDeviceCount: result.otherDeviceCount)
  }

  /// Returns an item without its secret; `nil` if it is not the one that the tree lists.
  private func intactItem(_ id: Data, _ tree: HashTree) throws(KeychainError) -> ItemRow? {
    try tree.fetch([id])
    let expected = try tree.value(of: id)
    do throws(KeychainError) {
      guard let expected, let row = try rows.itemWithoutSecret(id),
        try row.rowHash() == expected
      else { return nil }
      return row
    } catch {
      guard error.code == .damaged, error.underlying == nil else { throw error }
      return nil
    }
  }

  private mutating func add(
    _ item: ItemRow?, id: Data, _ query: CredentialQuery
  ) throws(KeychainError) {
    guard let item else {
      result.damaged.append(ItemRow.name(of: id))
      return
    }
    guard sealing.keys.satisfies(item.accessibility.unlockRequirement) else {
      result.lockedCount += 1
      return
    }
    guard !sealing.isOfOtherDevice(item) else {
      result.otherDeviceCount += 1
      return
    }
    do throws(KeychainError) {
      result.credentials.append(try credential(of: item, in: query.accessGroup))
    } catch {
      guard error.code == .damaged else { throw error }
      result.damaged.append(ItemRow.name(of: id))
    }
  }

  /// Opens the metadata of an item.
  mutating func credential(
    of item: ItemRow, in group: String? = nil
  ) throws(KeychainError) -> Credential {
    let known: String
    if let group { known = group } else { known = try groups.name(of: item) }
    return try sealing.credential(in: item, group: known, name: ItemRow.name(of: item.id))
  }
}

extension ItemSealing {
  /// Returns the tokens that every matching item has.
  ///
  /// A part of the identity that must be missing has none.
  func queryTokens(of query: CredentialQuery) throws(KeychainError) -> Set<Data> {
    var tokens: Set<Data> = []
    for pair in query.pairs where Self.hasToken(pair) { tokens.insert(try token(of: pair)) }
    return tokens
  }
}

extension ItemRow {
  fileprivate func has(_ tokens: Set<Data>) -> Bool { tokens.isSubset(of: allTokens) }
}

extension VaultRows {
  /// Returns the items that have all of these tokens, by the table alone.
  fileprivate func items(withEach tokens: Set<Data>) throws(KeychainError) -> [Data] {
    var items: Set<Data>?
    for token in tokens {
      let found = Set(try self.items(withToken: token))
      items = items?.intersection(found) ?? found
    }
    return (items ?? []).sorted { $0.lexicographicallyPrecedes($1) }
  }
}
