import Foundation
import GRDB

/// Which nodes the trees of a vault have, and how long they are.
///
/// Their contents don't matter here.
struct BareTrees {
  /// A tree, by the name of its table.
  enum Tree: String, CaseIterable {
    case items = "item_node"
    case tokens = "token_node"

    /// The number of bytes of an entry of a leaf.
    var stride: Int { self == .items ? 64 : 56 }
  }

  private var lengths: [Tree: [UInt64: Int]] = [.items: [:], .tokens: [:]]

  /// The token that most items have.
  private(set) var sharedToken: Data?

  /// The number of changes.
  var counter = 0

  private static let innerLength = 641
  private static let leafHead = 5
  private static let leafLimit = 32

  init() {}

  init(_ database: Database) throws {
    for tree in Tree.allCases {
      let sql = "SELECT prefix, length(content) FROM \(tree.rawValue)"
      for row in try Row.fetchAll(database, sql: sql) {
        lengths[tree]?[UInt64(row[0] as Int64)] = row[1]
      }
    }
    sharedToken = try Data.fetchOne(
      database, sql: "SELECT token FROM token GROUP BY token ORDER BY count(*) DESC LIMIT 1")
    counter = try Int.fetchOne(database, sql: "SELECT count(*) FROM chain") ?? 0
  }

  /// Returns the nodes on the path of a key, after so many keys were added there.
  ///
  /// A leaf that has become too long is not split, which only a few changes of a vault do.
  mutating func path(_ tree: Tree, _ key: Data, _ change: Int) -> [(UInt64, Int)] {
    var path: [(UInt64, Int)] = []
    for depth in 0...15 {
      let prefix = Self.prefix(key, depth)
      guard let length = lengths[tree]?[prefix] else {
        guard change > 0 else { break }
        path.append((prefix, Self.leafHead + tree.stride))
        break
      }
      guard length == Self.innerLength else {
        let longest = Self.leafHead + Self.leafLimit * tree.stride
        let new = min(max(length + change * tree.stride, Self.leafHead + tree.stride), longest)
        path.append((prefix, new))
        break
      }
      path.append((prefix, length))
    }
    if let (prefix, length) = path.last { lengths[tree]?[prefix] = length }
    return path
  }

  /// Returns the nodes of a tree that has these keys.
  mutating func built(_ tree: Tree, _ keys: Set<Data>) -> [UInt64: Int] {
    var nodes: [UInt64: Int] = [:]
    Self.build(tree, Array(keys), 0, &nodes)
    lengths[tree] = nodes
    return nodes
  }

  private static func build(
    _ tree: Tree, _ keys: [Data], _ depth: Int, _ nodes: inout [UInt64: Int]
  ) {
    guard let first = keys.first else { return }
    guard keys.count > leafLimit, depth < 15 else {
      nodes[prefix(first, depth)] = leafHead + keys.count * tree.stride
      return
    }
    nodes[prefix(first, depth)] = innerLength
    for part in Dictionary(grouping: keys, by: { prefix($0, depth + 1) }).values {
      build(tree, part, depth + 1, &nodes)
    }
  }

  /// The number of the node of a key at a depth, as the format defines it.
  private static func prefix(_ key: Data, _ depth: Int) -> UInt64 {
    var bits: UInt64 = 0
    for byte in key.prefix(8) { bits = bits << 8 | UInt64(byte) }
    return 1 << (4 * UInt64(depth)) | bits >> (4 + 4 * UInt64(15 - depth))
  }
}
