package import FoundationEssentials
package import KeychainSecrets

/// The derivations of the vault format, `D(key, label, fields)`, and their labels.
package enum Derivation {
  package static func key(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8] = []
  ) throws(KeychainError) -> SecretBytes {
    try unsafe KeyDerivation.key(from: key, label: label, fields: fields.span.bytes)
  }

  package static func tag(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8] = []
  ) throws(KeychainError) -> Data {
    try bytes(key, label, fields).data
  }

  /// Returns a tag as ``tag(_:_:_:)`` does, without allocation, for many tags.
  package static func bytes(
    _ key: borrowing SecretBytes, _ label: String, _ fields: [UInt8]
  ) throws(KeychainError) -> Bytes32 {
    let tag = try unsafe KeyDerivation.tag(from: key, label: label, fields: fields.span.bytes)
    return Bytes32(unsafe tag.span.bytes)
  }

  /// Returns `H(bytes)` without allocation, for many hashes.
  package static func bytes(hashing bytes: Data) throws(KeychainError) -> Bytes32 {
    let hash = try Blake2b.digest(bytes.bytes, count: Bytes32.count)
    return Bytes32(unsafe hash.span.bytes)
  }

  /// Returns `H(count, bytes)`: a hash without a label.
  package static func hash(_ bytes: Data, count: Int = 32) throws(KeychainError) -> Data {
    try Data(copying: Blake2b.digest(bytes.bytes, count: count))
  }

  /// Returns `HL(label, fields)`: a hash of 32 bytes for one purpose.
  package static func hash(_ label: String, _ fields: [UInt8]) throws(KeychainError) -> Data {
    try unsafe hash(label, of: fields.span.bytes)
  }

  static func hash(_ label: String, of bytes: RawSpan) throws(KeychainError) -> Data {
    try Data(copying: Blake2b.digest(bytes, label: label))
  }
}

/// 32 bytes, such as a hash, ordered by bytes; unlike `Data`, they need no allocation.
package struct Bytes32: Hashable, Comparable, Sendable {
  package static let count = 32

  // Big-endian, so that the order of the numbers is that of the bytes.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  init(_ reader: inout FieldReader, _ bytes: RawSpan) throws(FieldReader.Malformed) {
    self.init(bytes, at: try reader.fixed(bytes, Self.count).lowerBound)
  }

  /// Reads ``count`` bytes at an offset, which must exist.
  package init(_ bytes: RawSpan, at offset: Int = 0) {
    func word(_ index: Int) -> UInt64 {
      bytes.littleEndian(at: offset + 8 * index, as: UInt64.self).byteSwapped
    }
    words = (word(0), word(1), word(2), word(3))
  }

  package var data: Data { Data(copying: FieldWriter.fields(capacity: Self.count, write(to:))) }

  func write(to writer: inout FieldWriter) {
    writer.integer(words.0.byteSwapped)
    writer.integer(words.1.byteSwapped)
    writer.integer(words.2.byteSwapped)
    writer.integer(words.3.byteSwapped)
  }

  package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  package static func < (left: Self, right: Self) -> Bool { left.words < right.words }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}
