internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

/// A search within one transaction.
struct VaultSearch {
  let rows: any VaultRows
  let sealing: ItemSealing
  let state: StateRow
  private var groups: AccessGroupNames
  private var result = CredentialSearchResult(credentials: [])

  init(rows: any VaultRows, sealing: ItemSealing, state: StateRow) {
    self.rows = rows
    self.sealing = sealing
    self.state = state
    groups = AccessGroupNames(rows: rows, sealing: sealing)
  }

  mutating func run(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    if query.pairs.isEmpty {
      try searchAll()
    } else {
      try searchByTokens(query)
    }
    return matching(query)
  }

  /// Returns the found items that match: two names can share a token.
  private func matching(_ query: CredentialQuery) -> CredentialSearchResult {
    CredentialSearchResult(
      credentials: result.credentials.filter(query.matches), lockedCount: result.lockedCount,
      damaged: result.damaged, otherDeviceCount: result.otherDeviceCount)
  }

  /// Searches only the tree ordered by token, and examines at most `limit` items.
  mutating func runByIndex(
    _ query: CredentialQuery, limit: Int
  ) throws(KeychainError) -> CredentialSearchResult {
    var tokens: Set<Data> = []
    for pair in query.pairs { tokens.insert(try sealing.token(of: pair)) }
    let found = try itemsByToken(tokens)
    for id in found.sorted(by: { $0.lexicographicallyPrecedes($1) }).prefix(limit) {
      try add(try intactItem(id), id: id, group: query.accessGroup)
    }
    return matching(query)
  }

  private mutating func searchAll() throws(KeychainError) {
    var items: [(id: Data, item: ItemRow?)] = []
    try rows.forEachItem { id, item throws(KeychainError) in items.append((id, item)) }
    try state.checkItemCount(items.count)
    for (id, item) in items { try add(item, id: id, group: nil) }
  }

  /// Searches both trees of tokens, because one changed byte can make either miss an item without
  /// an error.
  private mutating func searchByTokens(_ query: CredentialQuery) throws(KeychainError) {
    var tokens: Set<Data> = []
    for pair in query.pairs { tokens.insert(try sealing.token(of: pair)) }
    let byItem = try rows.items(withAll: tokens)
    let byToken = try itemsByToken(tokens)
    for id in byItem.union(byToken).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let isInBoth = byItem.contains(id) && byToken.contains(id)
      try add(isInBoth ? try intactItem(id) : nil, id: id, group: query.accessGroup)
    }
  }

  /// Returns the items that have all of these tokens, from the tree ordered by token.
  private func itemsByToken(_ tokens: Set<Data>) throws(KeychainError) -> Set<Data> {
    var items: Set<Data>?
    for token in tokens {
      let found = Set(try rows.items(withToken: token))
      items = items?.intersection(found) ?? found
    }
    return items ?? []
  }

  private func intactItem(_ id: Data) throws(KeychainError) -> ItemRow? {
    do throws(KeychainError) {
      return try rows.item(id)
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }

  private mutating func add(
    _ item: ItemRow?, id: Data, group: String?
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
    let name = ItemRow.name(of: item.id)
    do throws(KeychainError) {
      let known: String
      if let group { known = group } else { known = try groups.name(of: item) }
      result.credentials.append(try sealing.credential(in: item, group: known, name: name))
    } catch {
      guard error.code == .damaged else { throw error }
      result.damaged.append(name)
    }
  }
}

/// Finds the names of access groups that are not known beforehand.
struct AccessGroupNames {
  private let rows: any VaultRows
  private let sealing: ItemSealing
  private var names: [Key: String] = [:]
  private var unnamed: Data?

  private struct Key: Hashable {
    let token: Data
    let accessibility: Accessibility
  }

  init(rows: any VaultRows, sealing: ItemSealing) {
    self.rows = rows
    self.sealing = sealing
  }

  /// Returns the group of an item, by the one token that it shares with a group.
  mutating func name(of item: ItemRow) throws(KeychainError) -> String {
    if unnamed == nil { try load() }
    for token in try rows.tokens(of: item.id) {
      if token == unnamed { return "" }
      if let name = names[Key(token: token, accessibility: item.accessibility)] { return name }
    }
    throw .damagedItem(ItemRow.name(of: item.id))
  }

  private mutating func load() throws(KeychainError) {
    unnamed = try sealing.groupToken("")
    for row in try rows.accessGroups()
    where sealing.keys.satisfies(row.accessibility.unlockRequirement) {
      // Items of a damaged name stay unnamed, and are reported one by one.
      guard let name = try? sealing.groupName(row) else { continue }
      names[Key(token: row.token, accessibility: row.accessibility)] = name
    }
  }
}
