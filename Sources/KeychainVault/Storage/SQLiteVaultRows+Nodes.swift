internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

// The nodes of the trees.
extension SQLiteVaultRows {
  func nodes(_ tree: Tree, _ prefixes: [UInt64]) throws(KeychainError) -> NodeContents {
    var nodes = NodeContents()
    var rest = prefixes[...]
    while !rest.isEmpty {
      let some = rest.prefix(64)
      rest = rest.dropFirst(64)
      // Few lengths, so that few statements are prepared.
      let count = [1, 8, 16, 32].first { $0 >= some.count } ?? 64
      let marks = repeatElement("?", count: count).joined(separator: ", ")
      let sql = "SELECT prefix, content FROM \(tree.table) WHERE prefix IN (\(marks))"
      let values = some.map { BoundValue.integer(Int64($0)) }
      let padding = repeatElement(values[0], count: count - values.count)
      try forEach(sql, values + padding) { row throws(KeychainError) in
        nodes.add(try row.blob(1), at: UInt64(try row.integer(0)))
      }
    }
    return nodes
  }

  func forEachNode(
    of tree: Tree, _ body: (_ prefix: UInt64, _ content: Data) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try forEach("SELECT prefix, content FROM \(tree.table) ORDER BY prefix") {
      row throws(KeychainError) in
      // No tree has a node of a negative number, which becomes one that is too great.
      try body(UInt64(bitPattern: try row.integer(0)), try row.blob(1))
    }
  }

  func put(_ content: Data, _ tree: Tree, _ prefix: UInt64) throws(KeychainError) {
    try execute(
      "INSERT OR REPLACE INTO \(tree.table) (prefix, content) VALUES (?, ?)",
      [.integer(Int64(prefix)), .blob(content)])
  }

  func removeNode(_ tree: Tree, _ prefix: UInt64) throws(KeychainError) {
    try execute("DELETE FROM \(tree.table) WHERE prefix = ?", [.integer(Int64(prefix))])
  }

  func removeNodes() throws(KeychainError) {
    for tree in Tree.allCases { try execute("DELETE FROM \(tree.table)") }
  }
}

extension Tree {
  fileprivate var table: String {
    switch self {
    case .items: "item_node"
    case .tokens: "token_node"
    case .groups: "group_node"
    }
  }
}
