package import Foundation
package import KeychainCredentials

/// Makes a tree from its keys and values alone, in the order of the keys.
package struct TreeBuilder {
  private let tree: Tree
  private let emit: (UInt64, Data) throws(KeychainError) -> Void

  /// The entries with the first byte of the newest key.
  private var chunk: [UInt8] = []

  /// The finished nodes below the present node of depth 1, and below the first node.
  private var low = Parts()
  private var high = Parts()
  private var firstByte: UInt8?
  private var isInOrder = true
  private var last: [UInt8] = []

  /// The keys below one node: all entries, as long as they fit into one leaf.
  private enum Part {
    case few([UInt8])
    case node(TreeRoot)
  }

  private typealias Parts = [Int: Part]

  /// Begins without keys.
  ///
  /// - Parameters:
  ///   - tree: Which tree it is.
  ///   - emit: Receives the number and content of each node.
  package init(
    _ tree: Tree,
    emit: @escaping (_ prefix: UInt64, _ content: Data) throws(KeychainError) -> Void
  ) {
    self.tree = tree
    self.emit = emit
  }

  /// Adds a key, which must be greater than those before and of the right length.
  package mutating func add(_ key: Data, _ value: Data) throws(KeychainError) {
    let bytes = [UInt8](key)
    guard bytes.count == tree.keyCount, value.count == tree.valueCount,
      last.lexicographicallyPrecedes(bytes)
    else {
      // No tree has such keys.
      isInOrder = false
      return
    }
    last = bytes
    if let firstByte, firstByte != bytes[0] { try close(firstByte, before: bytes[0]) }
    firstByte = bytes[0]
    chunk += bytes
    chunk.append(contentsOf: value)
  }

  /// Returns the root; `nil` if the keys were of no tree.
  package mutating func finish() throws(KeychainError) -> TreeRoot? {
    guard isInOrder else { return nil }
    if let firstByte { try close(firstByte, before: nil) }
    let whole = try join(high, 1)
    switch whole {
    case .few(let entries):
      guard !entries.isEmpty else { return .empty }
      return try emitLeaf(entries, 1)
    case .node(let root): return root
    }
  }

  /// Makes the nodes of all keys with one first byte.
  private mutating func close(_ byte: UInt8, before next: UInt8?) throws(KeychainError) {
    low[Int(byte & 15)] = try build(chunk[...], 1 << 8 | UInt64(byte), depth: 2)
    chunk = []
    guard next.map({ $0 >> 4 != byte >> 4 }) ?? true else { return }
    high[Int(byte >> 4)] = try join(low, 16 | UInt64(byte >> 4))
    low = [:]
  }

  private func build(
    _ entries: ArraySlice<UInt8>, _ prefix: UInt64, depth: Int
  ) throws(KeychainError) -> Part {
    guard entries.count > Tree.leafLimit * tree.stride else { return .few(Array(entries)) }
    guard depth < Tree.greatestDepth else { return .node(try emitLeaf(Array(entries), prefix)) }
    var parts = Parts()
    var start = entries.startIndex
    while start < entries.endIndex {
      let child = TreeKey(entries[start...]).child(depth)
      var end = start
      while end < entries.endIndex, TreeKey(entries[end...]).child(depth) == child {
        end += tree.stride
      }
      parts[child] = try build(entries[start..<end], prefix << 4 | UInt64(child), depth: depth + 1)
      start = end
    }
    return try join(parts, prefix)
  }

  /// Makes an inner node of its children, unless they fit into one leaf.
  private func join(_ parts: Parts, _ prefix: UInt64) throws(KeychainError) -> Part {
    var few: [UInt8]? = []
    for index in 0..<16 {
      switch parts[index] {
      case .few(let entries): few? += entries
      case .node: few = nil
      case nil: break
      }
    }
    if let few, few.count <= Tree.leafLimit * tree.stride { return .few(few) }
    let node = TreeNode(inner: Array(repeating: 0, count: 16 * TreeNode.childStride))
    var count: UInt64 = 0
    for (index, part) in parts.sorted(by: { $0.key < $1.key }) {
      let root: TreeRoot
      switch part {
      case .few(let entries):
        guard !entries.isEmpty else { continue }
        root = try emitLeaf(entries, prefix << 4 | UInt64(index))
      case .node(let made): root = made
      }
      node.setChild(index, root)
      count += root.count
    }
    let content = node.content(tree)
    try emit(prefix, content)
    return .node(TreeRoot(count: count, hash: try TreeNode.hash(content, tree, prefix)))
  }

  private func emitLeaf(_ entries: [UInt8], _ prefix: UInt64) throws(KeychainError) -> TreeRoot {
    let content = TreeNode(leaf: entries).content(tree)
    try emit(prefix, content)
    return TreeRoot(
      count: UInt64(entries.count / tree.stride),
      hash: try TreeNode.hash(content, tree, prefix))
  }
}
