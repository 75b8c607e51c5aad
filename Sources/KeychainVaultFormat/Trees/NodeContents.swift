package import Foundation

/// The contents of some nodes of a tree, in the order of their prefixes.
///
/// They are few. A dictionary would make each process search for a conformance, which takes longer
/// than reading an item.
package struct NodeContents: Sendable {
  private var nodes: [(prefix: UInt64, content: Data)] = []

  package init() {}

  /// Returns the content of a node; `nil` if it is not among them.
  package subscript(prefix: UInt64) -> Data? {
    let place = place(of: prefix)
    return place.isThere ? nodes[place.index].content : nil
  }

  /// Adds or replaces a node.
  package mutating func add(_ content: Data, at prefix: UInt64) {
    let place = place(of: prefix)
    if place.isThere {
      nodes[place.index].content = content
    } else {
      nodes.insert((prefix, content), at: place.index)
    }
  }

  /// Adds other nodes, which replace these if their prefixes are the same.
  mutating func add(_ other: NodeContents) {
    guard !nodes.isEmpty else {
      nodes = other.nodes
      return
    }
    var (all, rest) = ([(prefix: UInt64, content: Data)](), nodes[...])
    all.reserveCapacity(nodes.count + other.nodes.count)
    for node in other.nodes {
      while let first = rest.first, first.prefix <= node.prefix {
        if first.prefix < node.prefix { all.append(first) }
        rest.removeFirst()
      }
      all.append(node)
    }
    nodes = all + rest
  }

  /// Returns the content of a node, and removes it; `nil` if it is not among them.
  mutating func take(_ prefix: UInt64) -> Data? {
    let place = place(of: prefix)
    return place.isThere ? nodes.remove(at: place.index).content : nil
  }

  private func place(of prefix: UInt64) -> (index: Int, isThere: Bool) {
    var (low, high) = (0, nodes.count)
    while low < high {
      let middle = (low + high) / 2
      if nodes[middle].prefix < prefix { low = middle + 1 } else { high = middle }
    }
    return (low, low < nodes.count && nodes[low].prefix == prefix)
  }
}
