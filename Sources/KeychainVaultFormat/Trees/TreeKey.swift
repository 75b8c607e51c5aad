package import Foundation
internal import KeychainSecrets

/// The first half bytes of a key, which name the nodes on its path.
package struct TreeKey: Sendable {
  /// The first 15 half bytes, the first one uppermost.
  private let bits: UInt64

  package init(_ key: Data) {
    var bits: UInt64 = 0
    for byte in key.prefix(8) { bits = bits << 8 | UInt64(byte) }
    self.bits = bits >> 4
  }

  /// The beginning of the key at a place, of 8 bytes at least.
  init(_ keys: RawSpan, at start: Int) {
    bits = keys.littleEndian(at: start, as: UInt64.self).byteSwapped >> 4
  }

  init(_ key: ArraySlice<UInt8>) {
    var bits: UInt64 = 0
    for byte in key.prefix(8) { bits = bits << 8 | UInt64(byte) }
    self.bits = bits >> 4
  }

  /// Returns the number of the node at a depth: its half bytes in base 16 after a leading 1.
  package func prefix(_ depth: Int) -> UInt64 {
    1 << (4 * UInt64(depth)) | bits >> (4 * UInt64(Tree.greatestDepth - depth))
  }

  /// Returns the half byte that chooses the child of the node at a depth.
  func child(_ depth: Int) -> Int {
    Int(bits >> (4 * UInt64(Tree.greatestDepth - 1 - depth)) & 15)
  }

  /// Returns the numbers of the nodes from the first one to a depth.
  package func prefixes(through depth: Int) -> [UInt64] { (0...depth).map(prefix) }
}

extension Tree {

  /// Returns the depth of a node.
  static func depth(of prefix: UInt64) -> Int { (63 - prefix.leadingZeroBitCount) / 4 }
}
