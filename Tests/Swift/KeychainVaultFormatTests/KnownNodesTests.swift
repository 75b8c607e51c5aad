import Foundation
import KeychainCredentials
import Testing

@testable import KeychainVaultFormat

@Suite("Nodes that are known")
struct KnownNodesTests {
  @Test(arguments: [1, 33, 300, 6000])
  func theyProveWhatReadNodesProve(_ count: Int) throws {
    let (items, nodes, root) = try Self.tree(count)
    let known = KnownNodes()
    for _ in 0..<2 {
      for (key, value) in items {
        let tree = HashTree(.items, root, in: nodes, known: known)
        tree.accept(try nodes.nodes(.items, tree.unreadPrefixes(of: key)))
        #expect(try tree.value(of: key) == value)
      }
      let strange = TreeSample.id([], 60_000)
      #expect(try HashTree(.items, root, in: nodes, known: known).value(of: strange) == nil)
    }
  }

  @Test func theyAreNotReadAgain() throws {
    let (items, nodes, root) = try Self.tree(300)
    let known = KnownNodes()
    for key in items.keys { _ = try HashTree(.items, root, in: nodes, known: known).value(of: key) }
    nodes.readCount = 0
    for key in items.keys {
      let tree = HashTree(.items, root, in: nodes, known: known)
      #expect(tree.unreadPrefixes(of: key).isEmpty)
      _ = try tree.value(of: key)
    }
    #expect(nodes.readCount == 0)
  }

  @Test func theyAreOfTheStateThatNamesThem() throws {
    let (items, nodes, root) = try Self.tree(300)
    let known = KnownNodes()
    for key in items.keys { _ = try HashTree(.items, root, in: nodes, known: known).value(of: key) }
    let tree = HashTree(.items, root, in: nodes)
    let (key, new) = (try #require(items.keys.first), Data(repeating: 0xff, count: 32))
    try tree.set(new, for: key)
    let changed = try tree.write(to: nodes)
    for (other, value) in items {
      let reader = HashTree(.items, changed, in: nodes, known: known)
      #expect(try reader.value(of: other) == (other == key ? new : value))
    }
  }

  @Test func aChangedNodeBelowThemProvesNothing() throws {
    let (items, nodes, root) = try Self.tree(20_000)
    let known = KnownNodes()
    for key in items.keys { _ = try HashTree(.items, root, in: nodes, known: known).value(of: key) }
    let key = try #require(items.keys.first)
    let prefix = TreeKey(key).prefix(KnownNodes.greatestDepth + 1)
    nodes.contents[prefix]?[20] ^= 1
    #expect {
      try HashTree(.items, root, in: nodes, known: known).value(of: key)
    } throws: {
      ($0 as? KeychainError)?.code == .damaged
    }
  }

  @Test func contentsAreInOrder() {
    var (contents, expected) = (NodeContents(), [UInt64: Data]())
    for round in 0..<300 {
      var some = NodeContents()
      for _ in 0..<Int.random(in: 0..<5) {
        let (prefix, content) = (UInt64.random(in: 0..<40), Data([UInt8(round & 255)]))
        some.add(content, at: prefix)
        expected[prefix] = content
      }
      contents.add(some)
      let prefix = UInt64.random(in: 0..<40)
      #expect(contents[prefix] == expected[prefix])
      #expect(contents.take(prefix) == expected.removeValue(forKey: prefix))
      for prefix in UInt64(0)..<40 { #expect(contents[prefix] == expected[prefix]) }
    }
  }

  private static func tree(
    _ count: Int
  ) throws -> (items: [Data: Data], nodes: TreeNodesInMemory, root: TreeRoot) {
    var items: [Data: Data] = [:]
    for number in 0..<count { items[TreeSample.id([], number)] = TreeSample.value() }
    let (nodes, root) = try TreeNodesInMemory.built(.items, items)
    return (items, nodes, root)
  }
}
