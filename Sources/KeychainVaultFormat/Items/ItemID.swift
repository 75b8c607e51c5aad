package import Foundation
internal import KeychainSecrets

/// The id of an item: a mac of its identity under T0.
///
/// Ids are ordered as their bytes.
package struct ItemID: Hashable, Comparable, Sendable {
  package static let count = 32

  // Big-endian, so that comparing numbers compares bytes.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Creates an id; `nil` unless there are ``count`` bytes.
  package init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.count else { return nil }
    self.init(bytes, at: 0)
  }

  /// Creates an id; `nil` unless there are ``count`` bytes.
  package init?(_ bytes: Data) {
    self.init(bytes.bytes)
  }

  /// Reads the id at an offset, from which there are ``count`` bytes.
  init(_ bytes: RawSpan, at offset: Int) {
    func word(_ index: Int) -> UInt64 {
      bytes.littleEndian(at: offset + 8 * index, as: UInt64.self).byteSwapped
    }
    words = (word(0), word(1), word(2), word(3))
  }

  package var data: Data { Data(copying: FieldWriter.fields(capacity: Self.count, write(to:))) }

  /// The name, in errors, of an item whose metadata cannot be read.
  package var name: String { "item " + data.prefix(6).hexadecimal }

  func write(to writer: inout FieldWriter) {
    writer.integer(words.0.byteSwapped)
    writer.integer(words.1.byteSwapped)
    writer.integer(words.2.byteSwapped)
    writer.integer(words.3.byteSwapped)
  }

  package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  package static func < (left: Self, right: Self) -> Bool { left.words < right.words }

  package func hash(into hasher: inout Hasher) {
    // Ids are macs, so one word is as good as all.
    hasher.combine(words.0)
  }
}
