import Foundation
import KeychainCredentials
import KeychainVaultFormat
import Testing

@Suite("What the hash trees prove")
struct TreeProofTests {
  @Test(arguments: [0, 1, 33, 2000])
  func valuesAndAbsenceAreProved(_ count: Int) throws {
    let (items, nodes, root) = try Self.tree(count)
    let reader = HashTree(.items, root, in: nodes)
    for (key, value) in items { #expect(try reader.value(of: key) == value) }
    for number in 0..<200 {
      #expect(try reader.value(of: TreeSample.id([], 60_000 + number)) == nil)
    }
    var listed: [Data: Data] = [:]
    try reader.forEach { key, value throws(KeychainError) in listed[key] = value }
    #expect(listed == items)
  }

  @Test func aChangedNodeProvesNothing() throws {
    let (items, nodes, root) = try Self.tree(200)
    for (prefix, content) in nodes.contents {
      for index in [0, content.count / 2, content.count - 1] {
        var changed = content
        changed[index] ^= 1
        nodes.contents[prefix] = changed
        try Self.expectDamage(below: prefix, items, nodes, root)
      }
      nodes.contents[prefix] = nil
      try Self.expectDamage(below: prefix, items, nodes, root)
      nodes.contents[prefix] = content
    }
  }

  @Test func anOldNodeProvesNothing() throws {
    let (items, nodes, root) = try Self.tree(200)
    let tree = HashTree(.items, root, in: nodes)
    let key = try #require(items.keys.first)
    let old = nodes.contents
    try tree.set(Data(repeating: 0xff, count: 32), for: key)
    let new = try tree.write(to: nodes)
    for (prefix, content) in old where nodes.contents[prefix] != content {
      let kept = nodes.contents[prefix]
      nodes.contents[prefix] = content
      #expect(throws: KeychainError.self) {
        try HashTree(.items, new, in: nodes).value(of: key)
      }
      nodes.contents[prefix] = kept
    }
    #expect(try HashTree(.items, new, in: nodes).value(of: key) == Data(repeating: 0xff, count: 32))
  }

  @Test func aWriterChecksThePathItChanges() throws {
    let (items, nodes, root) = try Self.tree(200)
    let key = try #require(items.keys.first)
    nodes.contents[1]?[10] ^= 1
    #expect(Self.code { try HashTree(.items, root, in: nodes).set(nil, for: key) } == .damaged)
  }

  /// Nodes whose hashes are right, and that no writer makes.
  @Test(arguments: ImpossibleNode.allCases)
  func nodesThatNobodyMakesAreRefused(_ node: ImpossibleNode) throws {
    let (nodes, root, key) = try node.make()
    #expect(Self.code { try HashTree(.items, root, in: nodes).value(of: key) } == .damaged)
  }

  @Test func entriesOfTokensAddAndRemove() throws {
    var entry = TokenEntry(nil)
    let terms = [Data(repeating: 0xff, count: 32), Data([1]) + Data(repeating: 0, count: 31)]
    for term in terms { entry.add(term) }
    // The sum is 2²⁵⁶, which is 0.
    #expect(entry.value == Data([2, 0, 0, 0, 0, 0, 0, 0]) + Data(repeating: 0, count: 32))
    var isRemoved = entry.remove(terms[0])
    #expect(isRemoved)
    #expect(entry.value == Data([1, 0, 0, 0, 0, 0, 0, 0]) + terms[1])
    var wrong = entry
    isRemoved = wrong.remove(terms[0])
    #expect(!isRemoved)
    isRemoved = entry.remove(terms[1])
    #expect(isRemoved)
    #expect(entry == .none)
    #expect(entry.value == nil)
    isRemoved = entry.remove(terms[0])
    #expect(!isRemoved)
  }

  private static func tree(
    _ count: Int
  ) throws -> (items: [Data: Data], nodes: TreeNodesInMemory, root: TreeRoot) {
    var items: [Data: Data] = [:]
    for number in 0..<count { items[TreeSample.id([], number)] = TreeSample.value() }
    let (nodes, root) = try TreeNodesInMemory.built(.items, items)
    return (items, nodes, root)
  }

  private static func expectDamage(
    below prefix: UInt64, _ items: [Data: Data], _ nodes: TreeNodesInMemory, _ root: TreeRoot
  ) throws {
    let depth = (63 - prefix.leadingZeroBitCount) / 4
    for (key, value) in items {
      let isBelow = TreeKey(key).prefix(depth) == prefix
      let tree = HashTree(.items, root, in: nodes)
      if isBelow {
        #expect(code { try tree.value(of: key) } == .damaged)
      } else {
        #expect(try tree.value(of: key) == value)
      }
    }
  }

  private static func code(_ body: () throws -> Any?) -> KeychainError.Code? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? KeychainError)?.code
    }
  }
}

/// A tree with a node that has the right hash and cannot be.
enum ImpossibleNode: CaseIterable {
  case emptyLeaf, unknownKind, wrongOrder, repeatedKey, strangeKey, longLeaf, missingEntry
  case smallInner, wrongCount, childWithoutHash, hashWithoutChild, overflowingCount
  case rootOfNothing

  func make() throws -> (TreeNodesInMemory, TreeRoot, Data) {
    let keys = (0..<40).map { TreeSample.id([1, 2], $0) }
      .sorted { $0.lexicographicallyPrecedes($1) }
    let entries = keys.map { (key: $0, value: TreeSample.value()) }
    let leaf = try Self.child(Array(entries[0..<20]), 0x11)
    let other = try Self.child(Array(entries[20..<33]), 0x12)
    let hash = Data(repeating: 7, count: 32)
    let (content, count): (Data, UInt64) =
      switch self {
      case .emptyLeaf: (TreeNodesInMemory.leaf([]), 0)
      case .unknownKind: (Data([2]), 1)
      case .wrongOrder: (TreeNodesInMemory.leaf([entries[1], entries[0]]), 2)
      case .repeatedKey: (TreeNodesInMemory.leaf([entries[0], entries[0]]), 2)
      case .strangeKey: (Data(), 0)
      case .longLeaf: (TreeNodesInMemory.leaf(Array(entries[0..<33])), 33)
      case .missingEntry: (TreeNodesInMemory.leaf([entries[0]]).dropLast(), 1)
      case .smallInner: (TreeNodesInMemory.inner([1: leaf]), 20)
      case .wrongCount: (TreeNodesInMemory.inner([1: leaf, 2: other]), 34)
      case .childWithoutHash:
        (TreeNodesInMemory.inner([1: TreeRoot(count: 40, hash: TreeRoot.noHash)]), 40)
      case .hashWithoutChild:
        (
          TreeNodesInMemory.inner([
            1: TreeRoot(count: 0, hash: hash), 2: TreeRoot(count: 33, hash: hash),
          ]), 33
        )
      case .overflowingCount:
        (
          TreeNodesInMemory.inner([
            1: TreeRoot(count: .max, hash: hash), 2: TreeRoot(count: 41, hash: hash),
          ]), 40
        )
      case .rootOfNothing: (Data(), 0)
      }
    let nodes = TreeNodesInMemory()
    if self == .rootOfNothing { return (nodes, TreeRoot(count: 0, hash: hash), keys[0]) }
    if self == .strangeKey {
      // The keys begin with 1 and 2, and the leaf is the child for 3.
      let strange = try Self.child(Array(entries[0..<20]), 0x13)
      let filler = TreeRoot(count: 20, hash: hash)
      nodes.contents[0x13] = TreeNodesInMemory.leaf(Array(entries[0..<20]))
      nodes.contents[1] = TreeNodesInMemory.inner([3: strange, 4: filler])
      let root = try TreeNodesInMemory.root(.items, 1, try #require(nodes.contents[1]), count: 40)
      return (nodes, root, TreeSample.id([3], 1))
    }
    nodes.contents[1] = content
    return (nodes, try TreeNodesInMemory.root(.items, 1, content, count: count), keys[0])
  }

  private static func child(
    _ entries: [(key: Data, value: Data)], _ prefix: UInt64
  ) throws -> TreeRoot {
    try TreeNodesInMemory.root(
      .items, prefix, TreeNodesInMemory.leaf(entries), count: UInt64(entries.count))
  }
}
