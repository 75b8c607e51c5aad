package import Foundation

/// Writes fields in the notation of the vault format: little-endian integers of fixed width, byte
/// strings after a 32-bit length, optionals after a byte 0 or 1.
package struct FieldWriter {
  package private(set) var bytes: [UInt8] = []

  package mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func byteString(_ value: some Collection<UInt8>) {
    integer(UInt32(truncatingIfNeeded: value.count))
    bytes.append(contentsOf: value)
  }

  package mutating func byteString(_ value: Data) {
    integer(UInt32(truncatingIfNeeded: value.count))
    append(value)
  }

  mutating func byteString(_ value: RawSpan) {
    integer(UInt32(truncatingIfNeeded: value.byteCount))
    unsafe value.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
  }

  /// Writes bytes without their length.
  package mutating func append(_ value: Data) {
    // Not through `Data`'s iterator, which costs several times as much.
    unsafe value.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func text(_ value: String) {
    byteString(value.utf8)
  }

  package mutating func optional<Value>(_ value: Value?, _ write: (inout Self, Value) -> Void) {
    integer(UInt8(value == nil ? 0 : 1))
    if let value { write(&self, value) }
  }

  /// Returns the bytes that `write` writes.
  package static func fields(capacity: Int = 192, _ write: (inout Self) -> Void) -> [UInt8] {
    var writer = Self()
    // As most fields need, so that they are seldom moved.
    writer.bytes.reserveCapacity(capacity)
    write(&writer)
    return writer.bytes
  }
}
