package import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// Reads fields in the notation of the vault format, from bytes that each call receives again, because a
/// span cannot be stored.
package struct FieldReader {
  /// The bytes break the format.
  package struct Malformed: Error {}

  private var offset = 0

  /// The number of bytes that the remaining texts may have together.
  private var textLimit: Int

  package init(textLimit: Int = .max) { self.textLimit = textLimit }

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

  package mutating func data(_ bytes: RawSpan) throws(Malformed) -> Data { try Data(&self, bytes) }

  package mutating func text(_ bytes: RawSpan) throws(Malformed) -> String {
    let range = try range(bytes)
    guard range.count <= textLimit, let text = bytes.extracting(range).text else {
      throw Malformed()
    }
    textLimit -= range.count
    return text
  }

  /// Reads a value with a number of one byte, which must be known.
  mutating func value<Value: RawRepresentable<UInt8>>(_ bytes: RawSpan) throws(Malformed) -> Value {
    guard let value = Value(rawValue: try integer(bytes)) else { throw Malformed() }
    return value
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
    try optional(bytes) { reader, bytes throws(Malformed) in try reader.data(bytes, count: count) }
  }

  package func end(_ bytes: RawSpan) throws(Malformed) {
    guard offset == bytes.byteCount else { throw Malformed() }
  }

  /// Reads a number of elements, each by `read`, which have at least `size` bytes each.
  mutating func list<Value>(
    _ bytes: RawSpan, ofSize size: Int,
    _ read: (inout Self, RawSpan) throws(Malformed) -> Value
  ) throws(Malformed) -> [Value] {
    let count = Int(try integer(bytes, as: UInt32.self))
    // So memory can be reserved for them.
    guard count <= (bytes.byteCount - offset) / size else { throw Malformed() }
    var list: [Value] = []
    list.reserveCapacity(count)
    for _ in 0..<count { list.append(try read(&self, bytes)) }
    return list
  }

  /// Returns where the next byte string lies.
  mutating func range(_ bytes: RawSpan) throws(Malformed) -> Range<Int> {
    try fixed(bytes, Int(try integer(bytes, as: UInt32.self)))
  }
}

/// Writes fields in the notation of the vault format.
package struct FieldWriter {
  package private(set) var bytes: [UInt8] = []

  package mutating func integer<Value: FixedWidthInteger>(_ value: Value) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func byteString(_ value: some Collection<UInt8>) {
    integer(UInt32(truncatingIfNeeded: value.count))
    bytes.append(contentsOf: value)
  }

  package mutating func byteString(_ value: Data) { byteString(value.bytes) }

  mutating func byteString(_ value: RawSpan) {
    integer(UInt32(truncatingIfNeeded: value.byteCount))
    append(value)
  }

  /// Writes bytes without their length.
  package mutating func append(_ value: Data) { append(value.bytes) }

  private mutating func append(_ value: RawSpan) {
    // Not through `Data`'s iterator, which costs several times as much.
    unsafe value.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
  }

  /// Writes the number of values, then each of them.
  mutating func list<Value>(_ values: [Value], _ write: (inout Self, Value) -> Void) {
    integer(UInt32(truncatingIfNeeded: values.count))
    for value in values { write(&self, value) }
  }

  package mutating func text(_ value: String) { byteString(value.utf8) }

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

extension String {
  init(_ reader: inout FieldReader, _ bytes: RawSpan) throws(FieldReader.Malformed) {
    self = try reader.text(bytes)
  }
}

extension Data {
  /// Copies bytes faster than Foundation's initializer for any sequence.
  package init(copying bytes: [UInt8]) { self = unsafe bytes.withUnsafeBytes { unsafe Data($0) } }

  init(copying bytes: RawSpan) { self = unsafe bytes.withUnsafeBytes { unsafe Data($0) } }

  init(_ reader: inout FieldReader, _ bytes: RawSpan) throws(FieldReader.Malformed) {
    self.init(copying: bytes.extracting(try reader.range(bytes)))
  }

  static func random(count: Int) throws(KeychainError) -> Data {
    try translated(secrets: SecretBytes.random(count: count).withBytes { Data(copying: $0) })
  }

  /// The bytes in lower-case hexadecimal digits.
  package var hexadecimal: String { [UInt8](self).hexadecimal }
}
