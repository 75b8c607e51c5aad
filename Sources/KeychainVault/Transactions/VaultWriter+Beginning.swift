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
  init(
    beginning rows: any WritableVaultRows, _ sealing: ItemSealing, head: HeadRow,
    list: MemberList, row: MembersRow,
    continuing old: (proven: ProvenVault, keys: TierKeys)?
  ) throws(KeychainError) {
    try self.init(
      rows, sealing, head, list, before: old?.proven,
      counter: StateCounter.next(after: old?.proven.state.counter ?? 0),
      previous: old?.proven.chained.digest ?? ChainedState.noPrevious,
      trees: (.empty, .empty, .empty))
    if let old {
      let chain = try StateChain(
        rows, upTo: old.proven.state.counter, under: old.keys.open)
      try rows.removeIndexes()
      try chain.put(into: rows, under: sealing.keys.open)
    }
    try rows.put(head)
    try replaceMembers(list, row)
  }

  /// Begins to accept a vault as it is: its trees are made again from its rows.
  ///
  /// - Parameters:
  ///   - rows: The rows of the transaction.
  ///   - sealing: The keys at hand.
  ///   - head: The head, whose macs were checked.
  ///   - list: The list of members, which was checked.
  ///   - counter: The counter of the state that this makes.
  ///   - previous: The state in the file; `nil` if it does not open.
  init(
    accepting rows: any WritableVaultRows, _ sealing: ItemSealing, head: HeadRow,
    list: MemberList, counter: UInt64, after previous: ChainedState?
  ) throws(KeychainError) {
    let chain: StateChain?
    if let previous {
      chain = try StateChain(rows, upTo: previous.state.counter, under: sealing.keys.open)
    } else {
      chain = nil
    }
    let terms = try TokenTerms(open: sealing.keys.open.bytes)
    let trees = try Self.makeTrees(from: rows, terms)
    try self.init(
      rows, sealing, head, list, before: nil, counter: counter,
      previous: previous?.digest ?? ChainedState.noPrevious, trees: trees)
    try rows.removeChain()
    try chain?.after(counter).put(into: rows, under: sealing.keys.open)
    hasChanges = true
  }

  /// Makes the trees and the table of tokens again from the items and groups.
  private static func makeTrees(
    from rows: any WritableVaultRows, _ terms: TokenTerms
  ) throws(KeychainError) -> (items: TreeRoot, tokens: TreeRoot, groups: TreeRoot) {
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
  /// Opens all entries through a counter.
  init(
    _ rows: any VaultRows, upTo counter: UInt64, under open: SharedSecret
  ) throws(KeychainError) {
    let first = counter > ChainEntry.length ? counter - ChainEntry.length + 1 : 1
    try self.init(rows, from: first, through: counter, under: open)
  }

  /// Returns the entries that are still among the last ones after a counter.
  func after(_ counter: UInt64) -> StateChain {
    StateChain(entries: entries.filter { $0.counter + ChainEntry.length > counter })
  }

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
