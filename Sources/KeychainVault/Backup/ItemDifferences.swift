internal import Foundation
internal import KeychainCredentials
internal import KeychainVaultFormat

/// How the items of a vault differ from what its tree of items lists.
struct ItemDifferences {
  /// The number of items that the tree lists and that are missing.
  private(set) var missing = 0

  /// The number of items that the tree does not list.
  private(set) var unlisted = 0

  /// The number of items that are not as the tree lists them.
  private(set) var changed = 0

  /// The number of items.
  private(set) var count = 0

  /// The number of items that are bound to other devices.
  private(set) var ofOtherDevices = 0

  /// Compares the rows with the leaves of the tree, as they are in the file.
  init(_ rows: any VaultRows, _ sealing: ItemSealing) throws(KeychainError) {
    var listed: [Data: Data] = [:]
    try rows.forEachNode(of: .items) { _, content throws(KeychainError) in
      for (id, hash) in Self.entries(ofLeaf: content) { listed[id] = hash }
    }
    try rows.forEachItem { id, item throws(KeychainError) in
      count += 1
      if let item, sealing.isOfOtherDevice(item) { ofOtherDevices += 1 }
      switch listed.removeValue(forKey: id) {
      case nil: unlisted += 1
      case let hash?: if try item?.rowHash() != hash { changed += 1 }
      }
    }
    missing = listed.count
  }

  /// The entries of a node; none if it is not a leaf.
  private static func entries(ofLeaf content: Data) -> [(id: Data, hash: Data)] {
    let (header, stride) = (5, 64)
    guard content.first == 0, (content.count - header).isMultiple(of: stride) else { return [] }
    let bytes = Data(content)
    return Swift.stride(from: header, to: bytes.count, by: stride).map { start in
      (Data(bytes[start..<start + 32]), Data(bytes[start + 32..<start + stride]))
    }
  }
}
