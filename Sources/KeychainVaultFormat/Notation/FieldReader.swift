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
    let size = Value.bitWidth / 8
    guard bytes.byteCount - offset >= size else { throw Malformed() }
    defer { offset += size }
    return bytes.littleEndian(at: offset, as: type)
  }

  package mutating func byteString(_ bytes: RawSpan) throws(Malformed) -> [UInt8] {
    let range = try next(bytes)
    return bytes.extracting(range).array
  }

  package mutating func data(_ bytes: RawSpan) throws(Malformed) -> Data {
    let range = try next(bytes)
    return Data(copying: bytes.extracting(range))
  }

  package mutating func text(_ bytes: RawSpan) throws(Malformed) -> String {
    let range = try next(bytes)
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

  package func end(_ bytes: RawSpan) throws(Malformed) {
    guard offset == bytes.byteCount else { throw Malformed() }
  }

  private mutating func next(_ bytes: RawSpan) throws(Malformed) -> Range<Int> {
    let count = Int(try integer(bytes, as: UInt32.self))
    guard bytes.byteCount - offset >= count else { throw Malformed() }
    defer { offset += count }
    return offset..<(offset + count)
  }
}
