package import Foundation
package import KeychainCredentials

/// The three trees of hashes, which prove that no row is missing, changed or old.
package enum Tree: UInt8, CaseIterable, Sendable {
  /// The row hash of each item, by its id.
  case items = 0

  /// The number of items of each token, and the sum of their terms.
  case tokens = 1

  /// The hash of the box of each access group, by its token and class.
  case groups = 2

  /// The number of bytes of a key.
  package var keyCount: Int {
    switch self {
    case .items: 32
    case .tokens: 16
    case .groups: 17
    }
  }

  /// The number of bytes of a value.
  package var valueCount: Int { self == .tokens ? 40 : 32 }

  /// The maximum number of keys of a leaf that could be split.
  package static let leafLimit = 32

  /// The maximum number of half bytes of a prefix.
  package static let greatestDepth = 15
}

/// What a state says of a tree: its number of keys, and the hash of its first node.
package struct TreeRoot: Hashable, Sendable {
  package let count: UInt64
  package let hash: Data

  package static let noHash = Data(repeating: 0, count: 32)

  /// The root of a tree without keys.
  package static let empty = TreeRoot(count: 0, hash: noHash)

  package init(count: UInt64, hash: Data) {
    self.count = count
    self.hash = hash
  }
}

/// Where the nodes of the trees are read.
package protocol TreeNodes {
  /// Returns the contents of those of these nodes that exist.
  func nodes(_ tree: Tree, _ prefixes: [UInt64]) throws(KeychainError) -> NodeContents
}

/// Where the nodes of the trees are written.
package protocol WritableTreeNodes: TreeNodes {
  /// Replaces or adds a node.
  func put(_ content: Data, _ tree: Tree, _ prefix: UInt64) throws(KeychainError)

  /// Removes a node.
  func removeNode(_ tree: Tree, _ prefix: UInt64) throws(KeychainError)
}
