package import Foundation
package import KeychainCredentials

extension HashTree {
  /// Gives a key a value, or removes it with `nil`.
  ///
  /// The nodes on its path are checked first.
  package func set(_ value: Data?, for key: Data) throws(KeychainError) {
    let path = TreeKey(key)
    guard let first = try first() else {
      if let value { begin(with: key, value) }
      return
    }
    var nodes = [first]
    while let last = nodes.last, !last.isLeaf {
      let (index, prefix) = (path.child(nodes.count - 1), path.prefix(nodes.count))
      if let child = try child(index, of: last, prefix) {
        nodes.append(child)
      } else {
        guard value != nil else { return }
        nodes.append(addLeaf(to: last, index, prefix))
      }
    }
    guard let change = change(nodes[nodes.count - 1], key, value) else { return }
    for node in nodes { node.isChanged = true }
    guard change != 0 else { return }
    note(change, nodes, path)
    if change > 0 {
      split(nodes[nodes.count - 1], path.prefix(nodes.count - 1))
    } else {
      try merge(nodes, path)
    }
  }

  private func begin(with key: Data, _ value: Data) {
    let leaf = TreeNode(leaf: Array(key) + Array(value))
    leaf.isChanged = true
    top = leaf
    count = 1
    removed.remove(1)
    note(newNodes: 1)
  }

  private func addLeaf(to node: TreeNode, _ index: Int, _ prefix: UInt64) -> TreeNode {
    let leaf = TreeNode(leaf: [])
    node.children[index] = leaf
    removed.remove(prefix)
    note(newNodes: 1)
    return leaf
  }

  /// Changes an entry of a leaf.
  ///
  /// - Returns: The change of the number of keys; `nil` if nothing changed.
  private func change(_ leaf: TreeNode, _ key: Data, _ value: Data?) -> Int? {
    let (index, isThere) = leaf.place(of: Array(key), tree)
    let start = index * tree.stride
    guard let value else {
      guard isThere else { return nil }
      leaf.bytes.removeSubrange(start..<(start + tree.stride))
      return -1
    }
    if isThere {
      guard leaf.value(index, tree) != value else { return nil }
      leaf.bytes.replaceSubrange((start + tree.keyCount)..<(start + tree.stride), with: value)
      return 0
    }
    leaf.bytes.insert(contentsOf: key + value, at: start)
    return 1
  }

  /// Corrects the counts on a path.
  private func note(_ change: Int, _ nodes: [TreeNode], _ path: TreeKey) {
    count = change > 0 ? count + 1 : count - 1
    for depth in 0..<(nodes.count - 1) {
      let index = path.child(depth)
      let child = nodes[depth].child(index)
      let new = change > 0 ? child.count + 1 : child.count - 1
      nodes[depth].setChild(
        index, TreeRoot(count: new, hash: new == 0 ? TreeRoot.noHash : child.hash))
    }
  }

  // MARK: - Shape

  /// Makes a leaf an inner node if it has too many keys.
  private func split(_ node: TreeNode, _ prefix: UInt64) {
    let depth = Tree.depth(of: prefix)
    let entryCount = node.leafCount(tree)
    guard entryCount > Tree.leafLimit, depth < Tree.greatestDepth else { return }
    var parts = Array(repeating: [UInt8](), count: 16)
    for index in 0..<entryCount {
      let start = index * tree.stride
      parts[TreeKey(node.key(index, tree)).child(depth)] +=
        node.bytes[start..<(start + tree.stride)]
    }
    node.bytes = Array(repeating: 0, count: 16 * TreeNode.childStride)
    node.children = Array(repeating: nil, count: 16)
    for (index, part) in parts.enumerated() where !part.isEmpty {
      let child = TreeNode(leaf: part)
      child.isChanged = true
      let childPrefix = prefix << 4 | UInt64(index)
      removed.remove(childPrefix)
      // The hash is computed when the child is written.
      node.setChild(
        index, TreeRoot(count: UInt64(child.leafCount(tree)), hash: TreeRoot.noHash))
      node.children[index] = child
      note(newNodes: 1)
      split(child, childPrefix)
    }
  }

  /// Makes the first inner node with few keys a leaf, or removes a leaf without keys.
  private func merge(_ nodes: [TreeNode], _ path: TreeKey) throws(KeychainError) {
    for (depth, node) in nodes.dropLast().enumerated() where node.innerCount <= Tree.leafLimit {
      node.bytes = try entries(below: node, path.prefix(depth))
      node.children = []
      return
    }
    guard nodes[nodes.count - 1].bytes.isEmpty else { return }
    removed.insert(path.prefix(nodes.count - 1))
    if nodes.count == 1 {
      top = nil
    } else {
      nodes[nodes.count - 2].children[path.child(nodes.count - 2)] = nil
    }
  }

  /// Returns the entries below an inner node, and removes its children.
  private func entries(
    below node: TreeNode, _ prefix: UInt64
  ) throws(KeychainError) -> [UInt8] {
    guard !node.isLeaf else { return node.bytes }
    var entries: [UInt8] = []
    for index in 0..<16 {
      let childPrefix = prefix << 4 | UInt64(index)
      // The child that lost its last key is still in memory.
      guard let child = try child(index, of: node, childPrefix) else { continue }
      entries += try self.entries(below: child, childPrefix)
      removed.insert(childPrefix)
    }
    return entries
  }
}
