internal import Foundation

/// Writes fields in the notation of the vault format: little-endian integers of fixed width, byte
/// strings after a 32-bit length, optionals after a byte 0 or 1.
package struct FieldWriter {
  package private(set) var bytes: [UInt8] = []

  package mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
    for index in 0..<(Value.bitWidth / 8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
    }
  }

  package mutating func byteString(_ value: some Collection<UInt8>) {
    integer(UInt32(truncatingIfNeeded: value.count))
    bytes.append(contentsOf: value)
  }

  package mutating func text(_ value: String) {
    byteString(value.utf8)
  }

  package mutating func optional<Value>(_ value: Value?, _ write: (inout Self, Value) -> Void) {
    integer(UInt8(value == nil ? 0 : 1))
    if let value { write(&self, value) }
  }

  /// Returns the bytes that `write` writes.
  package static func fields(_ write: (inout Self) -> Void) -> [UInt8] {
    var writer = Self()
    write(&writer)
    return writer.bytes
  }
}
