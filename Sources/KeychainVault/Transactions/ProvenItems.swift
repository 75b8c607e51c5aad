internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

extension VaultRows {
  /// Returns an item, after the tree of items has proved that its row is the newest one; `nil` if
  /// the tree proves that there is none.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/damaged``, which names the item, if its
  ///   row is another one than the tree lists.
  func findItem(
    _ id: Data, name: @autoclosure () -> String, in tree: HashTree
  ) throws(KeychainError) -> ItemRow? {
    let found: (item: ItemRow?, nodes: NodeContents)
    do throws(KeychainError) {
      found = try item(id, nodes: tree.unreadPrefixes(of: id))
    } catch {
      // The caller knows the item by this name.
      throw error.code == .damaged && error.underlying == nil ? .damagedItem(name()) : error
    }
    tree.accept(found.nodes)
    let expected = try tree.value(of: id)
    guard let row = found.item else {
      guard expected == nil else { throw .damagedItem(name()) }
      return nil
    }
    guard try row.rowHash() == expected, try row.hasItsSecret() else { throw .damagedItem(name()) }
    return row
  }
}

extension ProvenVault {
  /// Returns an item as the tree proves it; see ``VaultRows/findItem(_:name:in:)``.
  func item(
    _ id: Data, name: @autoclosure () -> String, in rows: any VaultRows
  ) throws(KeychainError) -> ItemRow? {
    try rows.findItem(id, name: name(), in: items(rows))
  }
}

extension ProvenVault {
  /// Returns the items that have the rarest of these tokens, by the table of tokens, after the tree
  /// has proved that none is missing.
  ///
  /// They are all that can have every token. Which ones do, their rows show.
  func items(
    withRarestOf tokens: Set<Data>, in rows: any VaultRows, _ keys: TierKeys
  ) throws(KeychainError) -> (token: Data, items: [Data]) {
    let tree = self.tokens(rows)
    try tree.fetch(tokens)
    var rarest: (token: Data, entry: TokenEntry)?
    for token in tokens {
      let entry = TokenEntry(try tree.value(of: token))
      if rarest.map({ entry.count < $0.entry.count }) ?? true { rarest = (token, entry) }
    }
    guard let rarest, rarest.entry.count > 0 else { return (Data(), []) }
    let items = try rows.items(withToken: rarest.token)
    let terms = try TokenTerms(open: keys.open.bytes)
    var found = TokenEntry.none
    for id in items { found.add(try terms.term(of: rarest.token, item: id)) }
    guard found == rarest.entry else { throw .damagedTree(.tokens) }
    return (rarest.token, items)
  }
}

/// All items without their secrets, after the tree has proved that none is missing.
struct AllItems {
  /// The items in the order of their ids; `nil` for those whose rows are not the ones that the tree
  /// lists.
  let items: [(id: Data, item: ItemRow?)]

  init(_ rows: any VaultRows, _ proven: ProvenVault) throws(KeychainError) {
    var found: [(id: Data, item: ItemRow?)] = []
    var builder = TreeRoots.builder(.items) { _, _, _ in }
    try rows.forEachItem { id, item throws(KeychainError) in
      found.append((id, item))
      if let item { try builder.add(id, item.rowHash()) }
    }
    let root = try builder.finish()
    if root == proven.state.items {
      items = found
    } else {
      items = try Self.compared(found, rows, proven)
    }
  }

  /// Compares each item with the tree, because some are not those that it lists.
  private static func compared(
    _ found: [(id: Data, item: ItemRow?)], _ rows: any VaultRows, _ proven: ProvenVault
  ) throws(KeychainError) -> [(id: Data, item: ItemRow?)] {
    guard UInt64(found.count) == proven.state.items.count else {
      throw .wrongItemCount(found.count, expected: proven.state.items.count)
    }
    var listed: [Data: Data] = [:]
    try proven.items(rows).forEach { id, hash throws(KeychainError) in listed[id] = hash }
    var all: [(id: Data, item: ItemRow?)] = []
    for (id, item) in found {
      let hash = listed.removeValue(forKey: id)
      let isListed: Bool
      if let item, let hash { isListed = try item.rowHash() == hash } else { isListed = false }
      all.append((id, isListed ? item : nil))
    }
    // Those whose rows are gone.
    all += listed.keys.map { ($0, nil) }
    return all.sorted { $0.id.lexicographicallyPrecedes($1.id) }
  }
}

extension KeychainError {
  static func wrongItemCount(_ found: Int, expected: UInt64) -> Self {
    Self(
      .damaged, "the vault has \(found) items and should have \(expected)", recovery: .verify)
  }
}
