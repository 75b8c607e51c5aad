package import KeychainSecrets

/// Keys as people copy them: Crockford's base 32, with a checksum that finds typing mistakes.
package enum Text32 {
  /// Why a text is not a key.
  package enum Fault: Error {
    /// It does not have the prefix of such a key.
    case prefix

    /// It has a character that no key has.
    case character

    /// It has fewer or more characters than such a key.
    case length(found: Int, expected: Int)

    /// Its checksum is wrong.
    case mistyped

    case memory(SecretsError)
  }

  /// How the characters are laid out.
  package enum Style {
    /// Capitals in groups of four, with hyphens between them.
    case grouped

    /// Small letters without separators.
    case plain
  }

  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  private static let hyphen = UInt8(ascii: "-")

  /// Returns a key, and `sumCount` bytes of its hash, after a prefix; their bits must be a multiple of
  /// five.
  package static func text(
    _ key: borrowing SecretBytes, prefix: String = "", sumCount: Int, _ style: Style = .plain
  ) throws(SecretsError) -> SecretBytes {
    var buffer = try SecretBuffer()
    for byte in prefix.utf8 { try buffer.append(byte) }
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

  /// Reads a key of `count` bytes with `sumCount` bytes of its hash, after a prefix in small letters.
  package static func key(
    _ text: RawSpan, after prefix: String = "", count: Int, sumCount: Int
  ) throws(Fault) -> SecretBytes {
    var text = text.extracting(TextBytes.trimmed(text))
    guard TextBytes.begins(text, with: prefix) else { throw .prefix }
    text = text.extracting(prefix.utf8.count..<text.byteCount)
    let expected = (count + sumCount) * 8 / 5
    guard let found = number(of: text) else { throw .character }
    guard found == expected else { throw .length(found: found, expected: expected) }
    do throws(SecretsError) {
      let bytes = try bytes(of: text)
      let key = try bytes.copy(of: 0..<count)
      let sum = try Blake2b.key(hashing: key, count: 16).copy(of: 0..<sumCount)
      if try bytes.copy(of: count..<bytes.count).isEqual(to: sum) { return key }
    } catch { throw .memory(error) }
    throw .mistyped
  }

  /// Returns the number of characters, or `nil` if one of them belongs to no key.
  private static func number(of text: RawSpan) -> Int? {
    var found = 0
    for index in 0..<text.byteCount where !isIgnored(text.byte(at: index)) {
      guard value(of: text.byte(at: index)) != nil else { return nil }
      found += 1
    }
    return found
  }

  private static func bytes(of text: RawSpan) throws(SecretsError) -> SecretBytes {
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

/// Converts bits from groups of one size to groups of another, the first bits first.
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

/// Reads text as bytes, for text that must not become a string.
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
