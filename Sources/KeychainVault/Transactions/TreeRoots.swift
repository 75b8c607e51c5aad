internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

/// The roots of the three trees, computed from the rows alone; `nil` where no tree has such rows.
struct TreeRoots {
  let items: TreeRoot?
  let tokens: TreeRoot?
  let groups: TreeRoot?

  /// The number of rows of the table of tokens.
  let tokenRowCount: Int

  /// Receives the nodes that the trees should have.
  typealias Emit = (Tree, UInt64, Data) throws(KeychainError) -> Void

  /// Reads all rows.
  ///
  /// Items whose rows no writer would have written are left out.
  init(
    _ rows: any VaultRows, _ terms: TokenTerms, _ emit: @escaping Emit
  ) throws(KeychainError) {
    var builder = Self.builder(.items, emit)
    try rows.forEachItem { _, item throws(KeychainError) in
      if let item { try builder.add(item.id, item.rowHash()) }
    }
    items = try builder.finish()
    (tokens, tokenRowCount) = try Self.tokens(rows, terms, emit)
    groups = try Self.groups(rows, emit)
  }

  static func tokens(
    _ rows: any VaultRows, _ terms: TokenTerms, _ emit: @escaping Emit
  ) throws(KeychainError) -> (TreeRoot?, Int) {
    var builder = Self.builder(.tokens, emit)
    var (count, token, entry) = (0, Data(), TokenEntry.none)
    try rows.forEachToken { found, item throws(KeychainError) in
      if found != token {
        if let value = entry.value { try builder.add(token, value) }
        (token, entry) = (found, .none)
      }
      entry.add(try terms.term(of: found, item: item))
      count += 1
    }
    if let value = entry.value { try builder.add(token, value) }
    return (try builder.finish(), count)
  }

  static func groups(
    _ rows: any VaultRows, _ emit: @escaping Emit
  ) throws(KeychainError) -> TreeRoot? {
    var builder = Self.builder(.groups, emit)
    for group in try rows.accessGroups() { try builder.add(group.treeKey, group.treeValue()) }
    return try builder.finish()
  }

  static func builder(_ tree: Tree, _ emit: @escaping Emit) -> TreeBuilder {
    TreeBuilder(tree) { prefix, content throws(KeychainError) in try emit(tree, prefix, content) }
  }
}
