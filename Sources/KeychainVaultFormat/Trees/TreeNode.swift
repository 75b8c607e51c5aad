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
    let fields = FieldWriter.fields(capacity: 9 + content.count) {
      $0.integer(tree.rawValue)
      $0.integer(prefix)
      $0.append(content)
    }
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
    let bytes = bytes
    let keys = unsafe bytes.span.bytes
    for start in stride(from: 0, to: keys.byteCount, by: tree.stride) {
      guard TreeKey(keys, at: start).prefix(depth) == prefix,
        start == 0 || keys.precedes(at: start - tree.stride, start, count: tree.keyCount)
      else { return false }
    }
    return true
  }

  private func isInner(count: UInt64) -> Bool {
    guard bytes.count == 16 * Self.childStride, count > Tree.leafLimit else { return false }
    let bytes = bytes
    let children = unsafe bytes.span.bytes
    var sum: UInt64 = 0
    for start in stride(from: 0, to: children.byteCount, by: Self.childStride) {
      // Without a value for each hash: every read checks the nodes on its path.
      let child = children.littleEndian(at: start, as: UInt64.self)
      var hash: UInt64 = 0
      for word in stride(from: start + 8, to: start + Self.childStride, by: 8) {
        hash |= children.littleEndian(at: word, as: UInt64.self)
      }
      let isEmpty = hash == 0
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
    Data(
      copying: bytes[(index * tree.stride + tree.keyCount)..<((index + 1) * tree.stride)])
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
    let (start, bytes) = (index * Self.childStride, bytes)
    return TreeRoot(
      count: unsafe bytes.span.bytes.littleEndian(at: start, as: UInt64.self),
      hash: Data(copying: bytes[(start + 8)..<(start + Self.childStride)]))
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

extension RawSpan {
  /// Whether the key at one place comes before the key at another one, in the order of bytes.
  fileprivate func precedes(at left: Int, _ right: Int, count: Int) -> Bool {
    var place = 0
    // Eight bytes at a time, the first one uppermost.
    while place + 8 <= count {
      let (first, second) = (
        littleEndian(at: left + place, as: UInt64.self).byteSwapped,
        littleEndian(at: right + place, as: UInt64.self).byteSwapped
      )
      if first != second { return first < second }
      place += 8
    }
    while place < count {
      let (first, second) = (byte(at: left + place), byte(at: right + place))
      if first != second { return first < second }
      place += 1
    }
    return false
  }
}
