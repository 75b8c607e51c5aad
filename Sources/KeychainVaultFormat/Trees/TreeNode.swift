internal import Foundation
package import KeychainCredentials
internal import KeychainSecrets

/// A node that was checked, and its children as far as they were read.
final class TreeNode {
  /// The entries of a leaf in the order of their keys, or the counts and hashes of 16 children.
  var bytes: [UInt8]

  /// The children that were read; empty for a leaf.
  var children: [TreeNode?]

  /// Whether its row must be written.
  var isChanged = false

  init(leaf bytes: [UInt8]) {
    self.bytes = bytes
    children = []
  }

  init(inner bytes: [UInt8]) {
    self.bytes = bytes
    children = Array(repeating: nil, count: 16)
  }

  var isLeaf: Bool { children.isEmpty }

  static let childStride = 40

  /// Reads a node, and checks it against what the node above says of it.
  init(
    _ content: Data, _ tree: Tree, _ prefix: UInt64, expected: TreeRoot
  ) throws(KeychainError) {
    guard try Self.hash(content, tree, prefix) == expected.hash else { throw .damagedTree(tree) }
    let found = content.bytes
    guard found.byteCount > 0 else { throw .damagedTree(tree) }
    switch found.littleEndian(at: 0, as: UInt8.self) {
    case 0:
      guard found.byteCount >= 5 else { throw .damagedTree(tree) }
      bytes = found.extracting(5..<found.byteCount).array
      children = []
      guard UInt64(found.littleEndian(at: 1, as: UInt32.self)) == expected.count,
        isOrderedLeaf(tree, prefix, count: expected.count)
      else { throw .damagedTree(tree) }
    case 1:
      bytes = found.extracting(1..<found.byteCount).array
      children = Array(repeating: nil, count: 16)
      guard Tree.depth(of: prefix) < Tree.greatestDepth, isInner(count: expected.count) else {
        throw .damagedTree(tree)
      }
    default: throw .damagedTree(tree)
    }
  }

  /// Returns the hash of a node.
  static func hash(
    _ content: Data, _ tree: Tree, _ prefix: UInt64
  ) throws(KeychainError) -> Data {
    var fields: [UInt8] = []
    fields.reserveCapacity(9 + content.count)
    fields.append(tree.rawValue)
    for place in 0..<8 { fields.append(UInt8(truncatingIfNeeded: prefix >> (8 * UInt64(place)))) }
    fields.append(contentsOf: content)
    return try Derivation.hash("pk2/node", fields)
  }

  /// The content of the node's row.
  func content(_ tree: Tree) -> Data {
    var content = Data(capacity: 5 + bytes.count)
    if isLeaf {
      content.append(0)
      let count = UInt32(leafCount(tree))
      for place in 0..<4 { content.append(UInt8(truncatingIfNeeded: count >> (8 * UInt32(place)))) }
    } else {
      content.append(1)
    }
    content.append(contentsOf: bytes)
    return content
  }

  private func isOrderedLeaf(_ tree: Tree, _ prefix: UInt64, count: UInt64) -> Bool {
    let depth = Tree.depth(of: prefix)
    guard count > 0, bytes.count == Int(clamping: count) &* tree.stride,
      count <= Tree.leafLimit || depth == Tree.greatestDepth
    else { return false }
    for index in 0..<Int(count) {
      let key = key(index, tree)
      guard TreeKey(key).prefix(depth) == prefix,
        index == 0 || self.key(index - 1, tree).lexicographicallyPrecedes(key)
      else { return false }
    }
    return true
  }

  private func isInner(count: UInt64) -> Bool {
    guard bytes.count == 16 * Self.childStride, count > Tree.leafLimit else { return false }
    var sum: UInt64 = 0
    for start in stride(from: 0, to: bytes.count, by: Self.childStride) {
      // Without a value for each hash: every read checks the nodes on its path.
      var child: UInt64 = 0
      for byte in bytes[start..<start + 8].reversed() { child = child << 8 | UInt64(byte) }
      let isEmpty = bytes[start + 8..<start + Self.childStride].allSatisfy { $0 == 0 }
      let (new, isTooMuch) = sum.addingReportingOverflow(child)
      guard !isTooMuch, (child == 0) == isEmpty else { return false }
      sum = new
    }
    return sum == count
  }
}

// The entries of a leaf.
extension TreeNode {
  func leafCount(_ tree: Tree) -> Int { bytes.count / tree.stride }

  func key(_ index: Int, _ tree: Tree) -> ArraySlice<UInt8> {
    bytes[(index * tree.stride)..<(index * tree.stride + tree.keyCount)]
  }

  func value(_ index: Int, _ tree: Tree) -> Data {
    Data(bytes[(index * tree.stride + tree.keyCount)..<((index + 1) * tree.stride)])
  }

  /// Returns where a key is in a leaf, or where it would be.
  func place(of key: [UInt8], _ tree: Tree) -> (index: Int, isThere: Bool) {
    var (low, high) = (0, leafCount(tree))
    while low < high {
      let middle = (low + high) / 2
      if self.key(middle, tree).lexicographicallyPrecedes(key) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return (low, low < leafCount(tree) && self.key(low, tree) == key[...])
  }
}

// The children of an inner node.
extension TreeNode {
  /// Returns what an inner node says of a child.
  func child(_ index: Int) -> TreeRoot {
    let start = index * Self.childStride
    var count: UInt64 = 0
    for place in (0..<8).reversed() { count = count << 8 | UInt64(bytes[start + place]) }
    return TreeRoot(count: count, hash: Data(bytes[(start + 8)..<(start + Self.childStride)]))
  }

  func setChild(_ index: Int, _ root: TreeRoot) {
    let start = index * Self.childStride
    for place in 0..<8 {
      bytes[start + place] = UInt8(truncatingIfNeeded: root.count >> (8 * place))
    }
    bytes.replaceSubrange((start + 8)..<(start + Self.childStride), with: root.hash)
  }

  /// The number of keys below an inner node.
  var innerCount: UInt64 { (0..<16).reduce(0) { $0 + child($1).count } }
}

extension Tree {
  /// The number of bytes of an entry of a leaf.
  var stride: Int { keyCount + valueCount }
}

extension KeychainError {
  /// The error for a tree whose nodes do not have the hashes or counts that they should have.
  package static func damagedTree(_ tree: Tree) -> Self {
    let contents =
      switch tree {
      case .items: "items"
      case .tokens: "index"
      case .groups: "access groups"
      }
    return Self(
      .damaged,
      "the hash tree of the vault's \(contents) does not hold: something was changed, removed or "
        + "put back outside the vault", recovery: .verify)
  }
}
