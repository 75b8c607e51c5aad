import Foundation
import KeychainCredentials
import KeychainVaultFormat
import Testing

@Suite("The shape of the hash trees")
struct TreeShapeTests {
  @Test(arguments: [
    [0, 1, 32], [32, 33, 34], [33, 32, 31], [33, 32, 33], [600, 550, 20], [40, 1, 0],
    [600, 0, 600],
  ])
  func keysAloneFixTheNodes(_ sizes: [Int]) throws {
    let nodes = TreeNodesInMemory()
    var (items, root) = ([Data: Data](), TreeRoot.empty)
    for (round, size) in sizes.enumerated() {
      let tree = HashTree(.items, root, in: nodes)
      while items.count > size {
        let key = try #require(items.keys.randomElement())
        items[key] = nil
        try tree.set(nil, for: key)
      }
      while items.count < size {
        let key = TreeSample.id(round.isMultiple(of: 2) ? [] : [7, 7], items.count)
        items[key] = TreeSample.value()
        try tree.set(items[key], for: key)
      }
      for key in items.keys.prefix(5) {
        items[key] = TreeSample.value()
        try tree.set(items[key], for: key)
      }
      root = try tree.write(to: nodes)
      let built = try TreeNodesInMemory.built(.items, items)
      #expect(root == built.root)
      #expect(nodes.contents == built.nodes.contents)
      #expect(root.count == UInt64(size))
    }
  }

  @Test func aLeafSplitsAt33() throws {
    let items = Self.items(32)
    #expect(try TreeNodesInMemory.built(.items, items).nodes.contents.keys.sorted() == [1])
    let nodes = try TreeNodesInMemory.built(.items, Self.items(33)).nodes
    #expect(nodes.contents[1]?.first == 1)
    #expect(nodes.contents.count > 1)
  }

  @Test func removalMergesAtOnce() throws {
    let items = Self.items(33)
    let (nodes, root) = try TreeNodesInMemory.built(.items, items)
    let tree = HashTree(.items, root, in: nodes)
    try tree.set(nil, for: try #require(items.keys.first))
    try tree.write(to: nodes)
    #expect(nodes.contents.keys.sorted() == [1])
    #expect(nodes.contents[1]?.first == 0)
  }

  @Test func depth15HoldsManyKeys() throws {
    let prefix = Array(repeating: UInt8(5), count: 15)
    var items: [Data: Data] = [:]
    for number in 0..<70 { items[TreeSample.id(prefix, number)] = TreeSample.value() }
    let nodes = TreeNodesInMemory()
    let tree = HashTree(.items, .empty, in: nodes)
    for (key, value) in items { try tree.set(value, for: key) }
    let root = try tree.write(to: nodes)
    #expect(try nodes.contents == TreeNodesInMemory.built(.items, items).nodes.contents)
    #expect(nodes.contents.count == 16)
    let deepest = try #require(nodes.contents.keys.max())
    #expect(deepest == 0x1555_5555_5555_5555)
    #expect(nodes.contents[deepest]?.count == 5 + 70 * 64)
    let reader = HashTree(.items, root, in: nodes)
    for (key, value) in items { #expect(try reader.value(of: key) == value) }
    for key in items.keys.dropFirst(32) { try reader.set(nil, for: key) }
    try reader.write(to: nodes)
    #expect(nodes.contents.keys.sorted() == [1])
  }

  @Test func eachChangedNodeIsWrittenOnce() throws {
    let nodes = TreeNodesInMemory()
    let tree = HashTree(.items, .empty, in: nodes)
    for (key, value) in Self.items(2000) { try tree.set(value, for: key) }
    try tree.write(to: nodes)
    #expect(nodes.writeCount == nodes.contents.count)
    nodes.writeCount = 0
    try tree.set(TreeSample.value(), for: TreeSample.id([], 1))
    try tree.write(to: nodes)
    #expect(2...5 ~= nodes.writeCount)
    nodes.writeCount = 0
    try tree.write(to: nodes)
    #expect(nodes.writeCount == 0)
  }

  @Test func aFullTreeForgetsAndGoesOn() throws {
    let nodes = TreeNodesInMemory()
    let tree = HashTree(.items, .empty, in: nodes, nodeLimit: 20)
    let items = Self.items(1500)
    for (key, value) in items {
      try tree.set(value, for: key)
      if tree.isFull { try tree.write(to: nodes) }
    }
    #expect(!tree.isFull)
    let root = try tree.write(to: nodes)
    #expect(try root == TreeNodesInMemory.built(.items, items).root)
  }

  @Test func aPathTakesOneQuery() throws {
    let items = Self.items(5000)
    let (nodes, root) = try TreeNodesInMemory.built(.items, items)
    let tree = HashTree(.items, root, in: nodes)
    let key = try #require(items.keys.first)
    try tree.fetch([key])
    #expect(try tree.value(of: key) == items[key])
    #expect(nodes.readCount <= 2)
    #expect(tree.unreadPrefixes(of: key).isEmpty)
    #expect(Tree.usualDepth(count: 1_000_000) == 4)
  }

  @Test(arguments: [Tree.tokens, .groups])
  func theOtherTreesHaveTheirLengths(_ tree: Tree) throws {
    var items: [Data: Data] = [:]
    for number in 0..<100 {
      items[TreeSample.id([], number).suffix(tree.keyCount)] = Data(
        repeating: 1, count: tree.valueCount)
    }
    let (nodes, root) = try TreeNodesInMemory.built(tree, items)
    let reader = HashTree(tree, root, in: nodes)
    for (key, value) in items { #expect(try reader.value(of: key) == value) }
    #expect(root.count == 100)
  }

  @Test func aBuilderRefusesAWrongOrder() throws {
    for keys in [[Data(repeating: 2, count: 32), Data(repeating: 1, count: 32)], [Data([1])]] {
      var builder = TreeBuilder(.items) { _, _ throws(KeychainError) in }
      for key in keys { try builder.add(key, TreeSample.value()) }
      let root = try builder.finish()
      #expect(root == nil)
    }
  }

  private static func items(_ count: Int) -> [Data: Data] {
    Dictionary(
      uniqueKeysWithValues: (0..<count).map { (TreeSample.id([], $0), TreeSample.value()) })
  }
}
