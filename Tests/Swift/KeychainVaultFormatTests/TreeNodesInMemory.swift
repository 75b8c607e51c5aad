import Foundation
import KeychainCredentials
import KeychainVaultFormat
import Testing

/// The nodes of one tree in memory, which count what is read and written.
///
/// `@unchecked Sendable` because one test uses it on one thread.
final class TreeNodesInMemory: WritableTreeNodes, @unchecked Sendable {
  var contents: [UInt64: Data] = [:]
  var writeCount = 0
  var readCount = 0

  func nodes(_ tree: Tree, _ prefixes: [UInt64]) throws(KeychainError) -> NodeContents {
    readCount += 1
    var found = NodeContents()
    for prefix in prefixes {
      if let content = contents[prefix] { found.add(content, at: prefix) }
    }
    return found
  }

  func put(_ content: Data, _ tree: Tree, _ prefix: UInt64) throws(KeychainError) {
    writeCount += 1
    contents[prefix] = content
  }

  func removeNode(_ tree: Tree, _ prefix: UInt64) throws(KeychainError) {
    contents[prefix] = nil
  }

  /// Returns the nodes and the root that keys and values alone fix.
  static func built(
    _ tree: Tree, _ items: [Data: Data]
  ) throws -> (nodes: TreeNodesInMemory, root: TreeRoot) {
    let nodes = TreeNodesInMemory()
    var builder = TreeBuilder(tree) { prefix, content throws(KeychainError) in
      try nodes.put(content, tree, prefix)
    }
    for (key, value) in items.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      try builder.add(key, value)
    }
    return (nodes, try #require(try builder.finish()))
  }

  /// Returns the root of a node, as the format hashes it.
  static func root(
    _ tree: Tree, _ prefix: UInt64, _ content: Data, count: UInt64
  ) throws -> TreeRoot {
    let fields = FieldWriter.fields {
      $0.integer(tree.rawValue)
      $0.integer(prefix)
    }
    return TreeRoot(count: count, hash: try Derivation.hash("pk2/node", fields + content))
  }

  /// Returns a leaf with these entries.
  static func leaf(_ entries: [(key: Data, value: Data)]) -> Data {
    var content = Data(
      FieldWriter.fields {
        $0.integer(UInt8(0))
        $0.integer(UInt32(entries.count))
      })
    for entry in entries { content += entry.key + entry.value }
    return content
  }

  /// Returns an inner node with these children.
  static func inner(_ children: [Int: TreeRoot]) -> Data {
    var content = Data([1])
    for index in 0..<16 {
      let child = children[index] ?? .empty
      content += FieldWriter.fields { $0.integer(child.count) } + child.hash
    }
    return content
  }
}

/// Keys and values of trees.
enum TreeSample {
  /// Returns an id that begins with these half bytes.
  static func id(_ prefix: [UInt8] = [], _ number: Int) -> Data {
    var generator = SystemRandomNumberGenerator()
    var halves = prefix + (0..<64).map { _ in UInt8.random(in: 0..<16, using: &generator) }
    halves[60...63] = [
      UInt8(number >> 12 & 15), UInt8(number >> 8 & 15), UInt8(number >> 4 & 15),
      UInt8(number & 15),
    ]
    return Data((0..<32).map { halves[2 * $0] << 4 | halves[2 * $0 + 1] })
  }

  static func value(_ byte: UInt8 = .random(in: 0...255)) -> Data {
    Data(repeating: byte, count: 32)
  }
}
