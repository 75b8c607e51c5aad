package import Foundation
package import KeychainCredentials

/// A tree of hashes within one transaction: it answers only what its root proves, and can be
/// changed.
///
/// Nodes are read and checked once. Changed nodes are written once, by ``write(to:)``.
package final class HashTree {
  package let tree: Tree

  /// The root that the stored nodes have.
  package private(set) var root: TreeRoot

  /// The number of keys, with those that were added since.
  package internal(set) var count: UInt64

  /// The first node, once it was read.
  var top: TreeNode?

  /// The numbers of nodes that are gone since.
  var removed: Set<UInt64> = []
  private let nodes: any TreeNodes

  /// Nodes that other trees have checked.
  private let known: KnownNodes?

  /// Contents that were read and not needed yet.
  private var fetched = NodeContents()
  private var nodeCount = 0
  private let nodeLimit: Int

  /// Begins with the root of a state.
  ///
  /// - Parameters:
  ///   - tree: Which tree it is.
  ///   - root: The root, which was proved by other means.
  ///   - nodes: Where the nodes are read.
  ///   - known: Where the checked nodes are kept for other trees of the same kind; `nil` if nowhere.
  ///   - nodeLimit: The number of nodes in memory above which they are written and forgotten.
  package init(
    _ tree: Tree, _ root: TreeRoot, in nodes: any TreeNodes, known: KnownNodes? = nil,
    nodeLimit: Int = 100_000
  ) {
    self.known = known
    self.tree = tree
    self.root = root
    self.nodes = nodes
    self.nodeLimit = nodeLimit
    count = root.count
  }

  /// Whether the nodes in memory are too many, so that they should be written and forgotten.
  package var isFull: Bool { nodeCount > nodeLimit }

  /// Returns the value of a key; `nil` if the tree proves that it has none.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/damaged`` if the nodes on the path prove
  ///   nothing.
  package func value(of key: Data) throws(KeychainError) -> Data? {
    if isFull, !hasChanges { forget() }
    guard var node = try first() else { return nil }
    let path = TreeKey(key)
    var depth = 0
    while !node.isLeaf {
      depth += 1
      guard let child = try child(path.child(depth - 1), of: node, path.prefix(depth)) else {
        return nil
      }
      node = child
    }
    let (index, isThere) = node.place(of: Array(key), tree)
    return isThere ? node.value(index, tree) : nil
  }

  /// The depth to which paths in a tree of this size usually lead.
  package var usualDepth: Int { Tree.usualDepth(count: count) }

  /// Returns the nodes on the path of a key that were not read and are not known, as far as it
  /// usually leads.
  package func unreadPrefixes(of key: Data) -> [UInt64] {
    guard count > 0 else { return [] }
    let path = TreeKey(key)
    guard let depth = firstMissing(path), depth <= usualDepth else { return [] }
    return (depth...usualDepth).map(path.prefix)
  }

  /// Accepts contents of nodes that were read together with other rows.
  package func accept(_ contents: NodeContents) { fetched.add(contents) }

  /// Reads the paths of keys in few queries.
  package func fetch(_ keys: some Sequence<Data>) throws(KeychainError) {
    var prefixes: Set<UInt64> = []
    for key in keys { prefixes.formUnion(unreadPrefixes(of: key)) }
    prefixes = prefixes.filter { fetched[$0] == nil }
    if !prefixes.isEmpty { accept(try nodes.nodes(tree, prefixes.sorted())) }
  }

  /// Calls `body` with every key and value, in the order of the keys.
  package func forEach(
    _ body: (_ key: Data, _ value: Data) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    forget()
    if let node = try first() { try forEach(node, 1, body) }
    forget()
  }

  private func forEach(
    _ node: TreeNode, _ prefix: UInt64,
    _ body: (_ key: Data, _ value: Data) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    guard !node.isLeaf else {
      for index in 0..<node.leafCount(tree) {
        try body(Data(node.key(index, tree)), node.value(index, tree))
      }
      return
    }
    let children = (UInt64(0)..<16).map { prefix << 4 | $0 }
    accept(try nodes.nodes(tree, children))
    for index in 0..<16 {
      guard let child = try child(index, of: node, children[index]) else { continue }
      try forEach(child, children[index], body)
      node.children[index] = nil
    }
  }

  // MARK: - Nodes

  var hasChanges: Bool { (top?.isChanged ?? false) || !removed.isEmpty }

  /// Returns the first node; `nil` if the tree has no keys.
  func first() throws(KeychainError) -> TreeNode? {
    if let top { return top }
    guard count > 0 else {
      guard root == .empty || hasChanges else { throw .damagedTree(tree) }
      return nil
    }
    top = try read(1, root)
    return top
  }

  /// Returns a child of an inner node; `nil` if no key is there.
  func child(
    _ index: Int, of node: TreeNode, _ prefix: UInt64
  ) throws(KeychainError) -> TreeNode? {
    if let child = node.children[index] { return child }
    let expected = node.child(index)
    guard expected.count > 0 else { return nil }
    let child = try read(prefix, expected)
    node.children[index] = child
    return child
  }

  private func read(_ prefix: UInt64, _ expected: TreeRoot) throws(KeychainError) -> TreeNode {
    if let node = knownNode(prefix, expected) { return node }
    let content: Data?
    if let known = fetched.take(prefix) {
      content = known
    } else {
      content = try nodes.nodes(tree, [prefix])[prefix]
    }
    guard let content else { throw .damagedTree(tree) }
    nodeCount += 1
    let node = try TreeNode(content, tree, prefix, expected: expected)
    known?.note(node, prefix, expected)
    return node
  }

  private func knownNode(_ prefix: UInt64, _ expected: TreeRoot) -> TreeNode? {
    guard let node = known?.node(prefix, expected) else { return nil }
    nodeCount += 1
    return node
  }

  /// Returns the depth of the first node on a path that is neither in memory nor known; `nil` if
  /// there is none.
  private func firstMissing(_ path: TreeKey) -> Int? {
    guard var node = top ?? knownNode(1, root) else { return 0 }
    top = node
    var depth = 0
    while !node.isLeaf {
      let index = path.child(depth)
      depth += 1
      if let child = node.children[index] {
        node = child
        continue
      }
      let expected = node.child(index)
      guard expected.count > 0 else { return nil }
      guard let child = knownNode(path.prefix(depth), expected) else { return depth }
      node.children[index] = child
      node = child
    }
    return nil
  }

  func note(newNodes: Int) { nodeCount += newNodes }

  private func forget() {
    top = nil
    fetched = NodeContents()
    nodeCount = 0
  }

  /// Writes the changed nodes, each once.
  ///
  /// - Returns: The root of the tree.
  @discardableResult
  package func write(to nodes: any WritableTreeNodes) throws(KeychainError) -> TreeRoot {
    if let top, top.isChanged {
      root = TreeRoot(count: count, hash: try write(top, 1, to: nodes))
    } else if count == 0 {
      root = .empty
    }
    for prefix in removed.sorted() { try nodes.removeNode(tree, prefix) }
    removed = []
    fetched = NodeContents()
    if isFull { forget() }
    return root
  }

  private func write(
    _ node: TreeNode, _ prefix: UInt64, to nodes: any WritableTreeNodes
  ) throws(KeychainError) -> Data {
    for (index, child) in node.children.enumerated() {
      guard let child, child.isChanged else { continue }
      let hash = try write(child, prefix << 4 | UInt64(index), to: nodes)
      node.setChild(index, TreeRoot(count: node.child(index).count, hash: hash))
    }
    let content = node.content(tree)
    try nodes.put(content, tree, prefix)
    node.isChanged = false
    return try TreeNode.hash(content, tree, prefix)
  }
}

extension Tree {
  /// Returns the depth to which paths usually lead: the one where a node has 16 keys at most, if
  /// they are spread evenly.
  package static func usualDepth(count: UInt64) -> Int {
    var depth = 0
    while depth < greatestDepth, count > 1 << (4 * UInt64(depth) + 4) { depth += 1 }
    return depth
  }
}
