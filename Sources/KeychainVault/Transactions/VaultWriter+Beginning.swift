internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

extension VaultWriter {
  /// Begins a vault without items: a new one, or one that gets new keys.
  ///
  /// Writes its head and list of members. The rows of its slots and of a new succession must be
  /// written as the list says. With new keys, everything else that the old ones sealed is removed,
  /// except the items: they must be read by their old ids, removed with
  /// ``WritableVaultRows/removeItem(_:tokens:)`` without tokens, and put again.
  ///
  /// - Parameters:
  ///   - rows: The rows of the transaction.
  ///   - sealing: The new keys, all of them.
  ///   - head: The new head.
  ///   - list: The new list of members.
  ///   - row: The row of the list.
  ///   - old: The vault as it was before, with its keys; `nil` if it is a new one.
  /// - Throws: ``KeychainError`` from the storage, or with ``KeychainError/Code/damaged`` if the old
  ///   chain is damaged.
  init(
    beginning rows: any WritableVaultRows, _ sealing: ItemSealing, head: HeadRow,
    list: MemberList, row: MembersRow,
    continuing old: (proven: ProvenVault, keys: TierKeys)?
  ) throws(KeychainError) {
    let counter = try StateCounter.next(after: old?.proven.state.counter ?? 0)
    if let old {
      let chain = try StateChain(
        rows, from: old.proven.state.first, through: old.proven.state.counter,
        under: old.keys.open)
      try rows.removeIndexes()
      try chain.put(into: rows, under: sealing.keys.open)
    }
    try rows.put(head)
    try rows.put(row)
    try self.init(
      rows, sealing, head, list, before: nil, counter: counter,
      previous: old?.proven.chained.digest ?? ChainedState.noPrevious,
      first: old?.proven.state.first ?? 1, trees: (.empty, .empty, .empty))
  }

  /// Begins to accept a vault as it is: its trees are made again from its rows unless they match,
  /// and its chain begins with the state that this makes.
  ///
  /// - Parameters:
  ///   - rows: The rows of the transaction.
  ///   - sealing: The keys at hand.
  ///   - head: The head, whose macs were checked.
  ///   - list: The list of members, which was checked.
  ///   - counter: The counter of the state that this makes.
  ///   - previous: The state in the file; `nil` if it does not open.
  /// - Throws: ``KeychainError`` from the storage, or with ``KeychainError/Code/damaged`` if no trees
  ///   can be made of the rows.
  init(
    accepting rows: any WritableVaultRows, _ sealing: ItemSealing, head: HeadRow,
    list: MemberList, counter: UInt64, after previous: ChainedState?
  ) throws(KeychainError) {
    let terms = try TokenTerms(open: sealing.keys.open.bytes)
    let trees: Trees
    if let state = previous?.state, try Self.treesMatch(state, rows, terms) {
      trees = (state.items, state.tokens, state.groups)
    } else {
      trees = try Self.makeTrees(from: rows, terms)
    }
    try rows.removeChain()
    try self.init(
      rows, sealing, head, list, before: nil, counter: counter,
      previous: previous?.digest ?? ChainedState.noPrevious, first: counter, trees: trees)
  }

  private static func treesMatch(
    _ state: VaultState, _ rows: any VaultRows, _ terms: TokenTerms
  ) throws(KeychainError) -> Bool {
    var nodes = NodeVerification(rows)
    let roots = try nodes.roots(terms)
    guard roots.match(state), try nodes.problems().isEmpty else { return false }
    var isIndexed = true
    var count = 0
    try rows.forEachItem { _, item throws(KeychainError) in
      guard let item else { return }
      let tokens = item.tokens.count / ItemRow.tokenCount
      count += tokens
      if try rows.tokenCount(of: item) != tokens { isIndexed = false }
    }
    return isIndexed && count == roots.tokenRowCount
  }

  /// Makes the trees and the table of tokens again from the items and groups.
  private static func makeTrees(
    from rows: any WritableVaultRows, _ terms: TokenTerms
  ) throws(KeychainError) -> Trees {
    try rows.removeNodes()
    try rows.removeTokens()
    try rows.forEachItem { _, item throws(KeychainError) in
      if let item { try rows.putTokens(of: item) }
    }
    let roots = try TreeRoots(rows, terms) { tree, prefix, content throws(KeychainError) in
      try rows.put(content, tree, prefix)
    }
    guard let items = roots.items, let tokens = roots.tokens, let groups = roots.groups else {
      throw KeychainError(
        .damaged, "the items of the vault have ids that no item has", recovery: .restoreBackup)
    }
    return (items, tokens, groups)
  }
}

extension StateChain {
  /// Seals the entries.
  func put(
    into rows: any WritableVaultRows, under open: SharedSecret
  ) throws(KeychainError) {
    for entry in entries {
      try rows.putChain(
        entry.sealed(under: open.bytes), at: Int64(ChainEntry.place(of: entry.counter)))
    }
  }
}
