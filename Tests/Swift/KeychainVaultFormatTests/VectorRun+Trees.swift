import Foundation
import KeychainCredentials
import Testing
import VaultVectors

@testable import KeychainSecrets
@testable import KeychainVaultFormat

extension VectorRun {
  func trees() throws -> String?? {
    switch vector.operation {
    case "prefix":
      try TreeKey(vector.data("key")).prefix(vector.number("depth")).littleEndianHexadecimal
    case "tree root": try builtTree().root.hexadecimal
    case "tree nodes": try nodesHash(builtTree().nodes.contents)
    case "node hash":
      try TreeNode.hash(vector.data("content"), tree(), vector.number("prefix")).hexadecimal
    case "decoded node": .some(try decodedNode())
    case "looked up": .some(try lookedUp())
    default: nil
    }
  }

  private func tree() throws -> Tree { try #require(Tree(rawValue: vector.number("tree"))) }

  /// Builds the tree in both ways, which must agree.
  private func builtTree() throws -> (nodes: TreeNodesInMemory, root: TreeRoot) {
    let tree = try tree()
    let shared = vector.inputs.hex["shared"] == nil ? Data() : try vector.data("shared")
    var entries: [Data: Data] = [:]
    for number in 0..<(try vector.number("count") as UInt64) {
      let bytes = FieldWriter.fields { $0.integer(number) }
      let hash = try Derivation.hash(Data([tree.rawValue] + bytes), count: 32)
      entries[(shared + hash).prefix(tree.keyCount)] = try Derivation.hash(
        Data(bytes), count: tree.valueCount)
    }
    let built = try TreeNodesInMemory.built(tree, entries)
    let nodes = TreeNodesInMemory()
    let changed = HashTree(tree, .empty, in: nodes)
    for (key, value) in entries { try changed.set(value, for: key) }
    #expect(try changed.write(to: nodes) == built.root)
    #expect(nodes.contents == built.nodes.contents)
    return built
  }

  private func nodesHash(_ contents: [UInt64: Data]) throws -> String {
    var all = Data()
    for (prefix, content) in contents.sorted(by: { $0.key < $1.key }) {
      all += FieldWriter.fields {
        $0.integer(prefix)
        $0.byteString(content)
      }
    }
    return try Derivation.hash(all, count: 32).hexadecimal
  }

  private func decodedNode() throws -> String? {
    let (tree, content) = (try tree(), try vector.data("content"))
    let prefix: UInt64 = try vector.number("prefix")
    guard let count = content.countOfNode, count <= Int64.max else { return nil }
    let expected = TreeRoot(count: count, hash: try TreeNode.hash(content, tree, prefix))
    return try unlessDamaged {
      try TreeNode(content, tree, prefix, expected: expected).content(tree).hexadecimal
    }
  }

  private func lookedUp() throws -> String? {
    let nodes = TreeNodesInMemory()
    for (index, content) in try vector.numbered("content").enumerated() {
      nodes.contents[try vector.number("prefix\(index)")] = content
    }
    let root = try TreeRoot(count: vector.number("count"), hash: vector.data("root"))
    let (tree, key) = (HashTree(try tree(), root, in: nodes), try vector.data("key"))
    return try unlessDamaged {
      try tree.value(of: key)?.hexadecimal ?? "00"
    }
  }
}

extension TreeRoot {
  fileprivate var hexadecimal: String { count.littleEndianHexadecimal + hash.hexadecimal }
}

extension UInt64 {
  fileprivate var littleEndianHexadecimal: String {
    FieldWriter.fields { $0.integer(self) }.hexadecimal
  }
}

extension Data {
  /// The number of keys that a node claims to have; the node above it must say the same.
  fileprivate var countOfNode: UInt64? {
    let bytes = [UInt8](self)
    let numbers =
      bytes.first == 1
      ? stride(from: 1, to: bytes.count - 7, by: 40).map { bytes[$0..<$0 + 8] }
      : [bytes.dropFirst().prefix(4)]
    return numbers.reduce(UInt64?(0)) { sum, number in
      let count = number.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard let (result, isTooMuch) = sum?.addingReportingOverflow(count), !isTooMuch else {
        return nil
      }
      return result
    }
  }
}
