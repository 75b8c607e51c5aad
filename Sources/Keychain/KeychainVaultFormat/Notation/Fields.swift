package import FoundationEssentials
package import KeychainSecrets
internal import PrephirencesSystem

/// Reads fields in the notation of the vault format; each call receives the bytes again, because a
/// span cannot be stored.
package struct FieldReader {
  /// The bytes break the format.
  package struct Malformed: Error {}

  private var offset = 0

  /// The number of bytes left for the remaining texts together.
  private var textLimit: Int

  package init(textLimit: Int = .max) { self.textLimit = textLimit }

  package mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: RawSpan, as type: Value.Type = Value.self
  ) throws(Malformed) -> Value {
    let range = try fixed(bytes, Value.bitWidth / 8)
    return bytes.littleEndian(at: range.lowerBound, as: type)
  }

  /// Returns the range of the next `count` bytes, which have no length before them.
  mutating func fixed(_ bytes: RawSpan, _ count: Int) throws(Malformed) -> Range<Int> {
    guard count >= 0, bytes.byteCount - offset >= count else { throw Malformed() }
    defer { offset += count }
    return offset..<(offset + count)
  }

  /// Reads `count` bytes without a length before them.
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

  /// Reads a value with a known number of one byte.
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

  /// Reads a list of elements by `read`; each has at least `size` bytes.
  mutating func list<Value>(
    _ bytes: RawSpan, ofSize size: Int,
    _ read: (inout Self, RawSpan) throws(Malformed) -> Value
  ) throws(Malformed) -> [Value] {
    let count = Int(try integer(bytes, as: UInt32.self))
    // Checked first, so that memory can be reserved.
    guard count <= (bytes.byteCount - offset) / size else { throw Malformed() }
    var list: [Value] = []
    list.reserveCapacity(count)
    for _ in 0..<count { list.append(try read(&self, bytes)) }
    return list
  }

  /// Returns the range of the next byte string.
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

  package mutating func byteString(_ value: [UInt8]) {
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
    // `Data`'s iterator would take several times as long.
    unsafe value.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
  }

  /// Writes the number of values, then each of them.
  mutating func list<Value>(_ values: [Value], _ write: (inout Self, Value) -> Void) {
    integer(UInt32(truncatingIfNeeded: values.count))
    for value in values { write(&self, value) }
  }

  package mutating func text(_ value: String) {
    integer(UInt32(truncatingIfNeeded: value.utf8.count))
    bytes.append(contentsOf: value.utf8)
  }

  package mutating func optional<Value>(_ value: Value?, _ write: (inout Self, Value) -> Void) {
    integer(UInt8(value == nil ? 0 : 1))
    if let value { write(&self, value) }
  }

  package static func fields(capacity: Int = 192, _ write: (inout Self) -> Void) -> [UInt8] {
    var writer = Self()
    // The size of most fields, so that they are seldom moved.
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
    try SecretBytes.random(count: count).withBytes { Data(copying: $0) }
  }

  package var hexadecimal: String { [UInt8](self).hexadecimal }
}

/// Keys as people copy them: Crockford's base 32, with a checksum that finds typing mistakes.
package enum Text32 {
  /// Why a text is not a key.
  package enum Fault: Error {
    /// It does not have the prefix of such a key.
    case prefix

    /// It has a character that keys do not have.
    case character

    /// It has fewer or more characters than such a key.
    case length(found: Int, expected: Int)

    /// Its checksum is wrong.
    case mistyped

    case memory(KeychainError)
  }

  /// The layout of the characters.
  package enum Style {
    /// Capitals in groups of four, with hyphens between them.
    case grouped

    /// Small letters without separators.
    case plain
  }

  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  private static let hyphen = UInt8(ascii: "-")

  /// Returns a key, and `sumCount` bytes of its hash, after a prefix; their bits must be a multiple
  /// of five.
  package static func text(
    _ key: borrowing SecretBytes, prefix: String = "", sumCount: Int, _ style: Style = .plain
  ) throws(KeychainError) -> SecretBytes {
    var buffer = try SecretBuffer()
    try buffer.append(prefix)
    var bits = Bits()
    var count = 0
    let sum = try Blake2b.key(hashing: key, count: 16)
    for index in 0..<key.count + sumCount {
      let isKey = index < key.count
      bits.push(
        isKey
          ? key.withBytes { $0.byte(at: index) } : sum.withBytes { $0.byte(at: index - key.count) },
        8)
      while let value = bits.pop(5) {
        if style == .grouped, count > 0, count.isMultiple(of: 4) { try buffer.append(hyphen) }
        let capital = alphabet[Int(value)]
        try buffer.append(style == .plain ? TextBytes.lowercase(capital) : capital)
        count += 1
      }
    }
    return try buffer.finish()
  }

  /// Reads a key of `count` bytes with `sumCount` bytes of its hash, after a prefix in small
  /// letters.
  package static func key(
    _ text: RawSpan, after prefix: String = "", count: Int, sumCount: Int
  ) throws(Fault) -> SecretBytes {
    var text = text.extracting(TextBytes.trimmed(text))
    guard TextBytes.begins(text, with: prefix) else { throw .prefix }
    text = text.extracting(prefix.utf8.count..<text.byteCount)
    let expected = (count + sumCount) * 8 / 5
    guard let found = number(of: text) else { throw .character }
    guard found == expected else { throw .length(found: found, expected: expected) }
    do throws(KeychainError) {
      let bytes = try bytes(of: text)
      let key = try bytes.copy(of: 0..<count)
      let sum = try Blake2b.key(hashing: key, count: 16).copy(of: 0..<sumCount)
      if try bytes.copy(of: count..<bytes.count).isEqual(to: sum) { return key }
    } catch { throw .memory(error) }
    throw .mistyped
  }

  /// Returns the number of characters; `nil` if a character is invalid.
  private static func number(of text: RawSpan) -> Int? {
    var found = 0
    for index in 0..<text.byteCount where !isIgnored(text.byte(at: index)) {
      guard value(of: text.byte(at: index)) != nil else { return nil }
      found += 1
    }
    return found
  }

  private static func bytes(of text: RawSpan) throws(KeychainError) -> SecretBytes {
    var buffer = try SecretBuffer()
    var bits = Bits()
    for index in 0..<text.byteCount {
      guard let value = value(of: text.byte(at: index)) else { continue }
      bits.push(value, 5)
      if let byte = bits.pop(8) { try buffer.append(byte) }
    }
    return try buffer.finish()
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch TextBytes.lowercase(character) {
    case UInt8(ascii: "o"): 0
    case UInt8(ascii: "i"), UInt8(ascii: "l"): 1
    case let letter: alphabet.firstIndex { TextBytes.lowercase($0) == letter }.map { UInt8($0) }
    }
  }

  private static func isIgnored(_ byte: UInt8) -> Bool {
    byte == hyphen || TextBytes.isWhiteSpace(byte)
  }
}

/// Converts bits from groups of one size to groups of another, first bits first.
private struct Bits {
  private var value: UInt32 = 0
  private var count: UInt32 = 0

  mutating func push(_ bits: UInt8, _ number: UInt32) {
    value = (value << number | UInt32(bits)) & 0xFFFF
    count += number
  }

  /// Returns the next `number` bits, or `nil` if there are fewer.
  mutating func pop(_ number: UInt32) -> UInt8? {
    guard count >= number else { return nil }
    count -= number
    return UInt8(truncatingIfNeeded: value >> count & ((1 << number) - 1))
  }
}

/// Reads text as bytes if it must not become a string.
enum TextBytes {
  static func isWhiteSpace(_ byte: UInt8) -> Bool { 9...13 ~= byte || byte == 32 }

  static func lowercase(_ byte: UInt8) -> UInt8 { 65...90 ~= byte ? byte + 32 : byte }

  /// Returns the range of a text without the white space at its ends.
  static func trimmed(_ text: RawSpan) -> Range<Int> {
    var range = 0..<text.byteCount
    while let first = range.first, isWhiteSpace(text.byte(at: first)) { range.removeFirst() }
    while let last = range.last, isWhiteSpace(text.byte(at: last)) { range.removeLast() }
    return range
  }

  /// Whether a text begins with a prefix in small letters, ignoring its case.
  static func begins(_ text: RawSpan, with prefix: String) -> Bool {
    let prefix = Array(prefix.utf8)
    return text.byteCount >= prefix.count
      && prefix.indices.allSatisfy { index in lowercase(text.byte(at: index)) == prefix[index] }
  }
}
