package import Foundation
internal import KeychainSecrets

/// Reads fields in the notation of the vault format, and fails at anything that is not exactly a
/// field.
///
/// Each call receives the bytes again, because a span cannot be stored.
package struct FieldReader {
  /// The bytes break the format.
  package struct Malformed: Error {}

  private var offset = 0

  /// The number of bytes that the remaining texts may have together.
  private var textLimit: Int

  package init(textLimit: Int = .max) {
    self.textLimit = textLimit
  }

  package mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: RawSpan, as type: Value.Type = Value.self
  ) throws(Malformed) -> Value {
    let range = try fixed(bytes, Value.bitWidth / 8)
    return bytes.littleEndian(at: range.lowerBound, as: type)
  }

  /// Returns where the next `count` bytes lie, which have no length before them.
  mutating func fixed(_ bytes: RawSpan, _ count: Int) throws(Malformed) -> Range<Int> {
    guard count >= 0, bytes.byteCount - offset >= count else { throw Malformed() }
    defer { offset += count }
    return offset..<(offset + count)
  }

  /// Reads `count` bytes that have no length before them.
  mutating func data(_ bytes: RawSpan, count: Int) throws(Malformed) -> Data {
    Data(copying: bytes.extracting(try fixed(bytes, count)))
  }

  package mutating func byteString(_ bytes: RawSpan) throws(Malformed) -> [UInt8] {
    bytes.extracting(try range(bytes)).array
  }

  package mutating func data(_ bytes: RawSpan) throws(Malformed) -> Data {
    Data(copying: bytes.extracting(try range(bytes)))
  }

  package mutating func text(_ bytes: RawSpan) throws(Malformed) -> String {
    let range = try range(bytes)
    guard range.count <= textLimit, let text = bytes.extracting(range).text else {
      throw Malformed()
    }
    textLimit -= range.count
    return text
  }

  package mutating func optional<Value>(
    _ bytes: RawSpan, _ read: (inout Self, RawSpan) throws(Malformed) -> Value
  ) throws(Malformed) -> Value? {
    switch try integer(bytes, as: UInt8.self) {
    case 0: return nil
    case 1: return try read(&self, bytes)
    default: throw Malformed()
    }
  }

  /// Reads an optional field of `count` bytes.
  mutating func optionalData(_ bytes: RawSpan, count: Int) throws(Malformed) -> Data? {
    try optional(bytes) { reader, bytes throws(Malformed) in
      try reader.data(bytes, count: count)
    }
  }

  /// Reads the number of elements that follow, which have at least `size` bytes each.
  ///
  /// A number for which there are not enough bytes is refused, so memory can be reserved for it.
  mutating func count(_ bytes: RawSpan, ofSize size: Int) throws(Malformed) -> Int {
    let count = Int(try integer(bytes, as: UInt32.self))
    guard count <= (bytes.byteCount - offset) / size else { throw Malformed() }
    return count
  }

  package func end(_ bytes: RawSpan) throws(Malformed) {
    guard offset == bytes.byteCount else { throw Malformed() }
  }

  /// Returns where the next byte string lies.
  mutating func range(_ bytes: RawSpan) throws(Malformed) -> Range<Int> {
    try fixed(bytes, Int(try integer(bytes, as: UInt32.self)))
  }
}
