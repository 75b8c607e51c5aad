internal import Foundation
internal import Synchronization

/// The upper nodes of a tree that were checked, for later transactions.
///
/// A node is found only by what the state, or the node above, says of it: its number of keys and its
/// hash. So what is found is what the file would have to hold, whatever was written since.
package final class KnownNodes: Sendable {
  /// The greatest depth of nodes that are kept, so that they are 273 at most.
  package static let greatestDepth = 2

  private final class Known: Sendable {
    let expected: TreeRoot
    let bytes: [UInt8]
    let isLeaf: Bool

    init(_ node: TreeNode, _ expected: TreeRoot) {
      self.expected = expected
      bytes = node.bytes
      isLeaf = node.isLeaf
    }
  }

  /// By their prefixes, which are below 512 at this depth; empty until there is one.
  private let nodes = Mutex<[Known?]>([])

  package init() {}

  /// Returns a node of which this is said; `nil` if it is not known.
  func node(_ prefix: UInt64, _ expected: TreeRoot) -> TreeNode? {
    guard prefix < Self.prefixLimit,
      let known = nodes.withLock({ $0.isEmpty ? nil : $0[Int(prefix)] }),
      known.expected == expected
    else { return nil }
    return known.isLeaf ? TreeNode(leaf: known.bytes) : TreeNode(inner: known.bytes)
  }

  /// Keeps a node that was checked against what is said of it.
  func note(_ node: TreeNode, _ prefix: UInt64, _ expected: TreeRoot) {
    guard prefix < Self.prefixLimit else { return }
    let known = Known(node, expected)
    nodes.withLock { nodes in
      if nodes.isEmpty { nodes = Array(repeating: nil, count: Int(Self.prefixLimit)) }
      nodes[Int(prefix)] = known
    }
  }

  /// The prefixes of deeper nodes are not less.
  private static let prefixLimit: UInt64 = 2 << (4 * UInt64(greatestDepth))
}
