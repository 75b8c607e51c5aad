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

  /// Appends a key and `sumCount` bytes of its hash; together their bits must be a multiple of five.
  package static func append(
    _ key: borrowing SecretBytes, sumCount: Int, _ style: Style, to buffer: inout SecretBuffer
  ) throws(SecretsError) {
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
        try buffer.append(style == .plain ? lowercase(capital) : capital)
        count += 1
      }
    }
  }

  /// Returns a key in small letters, after a prefix.
  package static func text(
    _ key: borrowing SecretBytes, prefix: String, sumCount: Int
  ) throws(SecretsError) -> SecretBytes {
    var buffer = try SecretBuffer()
    for byte in prefix.utf8 { try buffer.append(byte) }
    try append(key, sumCount: sumCount, .plain, to: &buffer)
    return try buffer.finish()
  }

  /// Reads a key of `count` bytes with `sumCount` bytes of its hash.
  package static func key(_ text: RawSpan, count: Int, sumCount: Int) throws(Fault) -> SecretBytes {
    let expected = (count + sumCount) * 8 / 5
    guard let found = number(of: text) else { throw .character }
    guard found == expected else { throw .length(found: found, expected: expected) }
    let key: SecretBytes?
    do throws(SecretsError) {
      key = try checked(try bytes(of: text), count: count)
    } catch {
      throw .memory(error)
    }
    guard let key else { throw .mistyped }
    return key
  }

  /// Reads a key after a prefix in small letters.
  package static func key(
    _ text: RawSpan, after prefix: String, count: Int, sumCount: Int
  ) throws(Fault) -> SecretBytes {
    let text = text.extracting(TextBytes.trimmed(text))
    guard TextBytes.begins(text, with: prefix) else { throw .prefix }
    return try key(
      text.extracting(prefix.utf8.count..<text.byteCount), count: count, sumCount: sumCount)
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

  /// Returns the key at the beginning of the bytes, if the rest is the beginning of its hash.
  private static func checked(
    _ bytes: borrowing SecretBytes, count: Int
  ) throws(SecretsError) -> SecretBytes? {
    let key = try bytes.withBytes { bytes throws(SecretsError) in
      try SecretBytes(copying: bytes.extracting(0..<count))
    }
    let sum = try Blake2b.key(hashing: key, count: 16)
    let isRight = bytes.withBytes { bytes in
      sum.withBytes {
        ConstantTime.equal(
          bytes.extracting(count..<bytes.byteCount), $0.extracting(0..<bytes.byteCount - count))
      }
    }
    guard isRight else { return nil }
    return key
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch uppercase(character) {
    case UInt8(ascii: "O"): 0
    case UInt8(ascii: "I"), UInt8(ascii: "L"): 1
    case let capital: alphabet.firstIndex(of: capital).map { UInt8($0) }
    }
  }

  private static func isIgnored(_ byte: UInt8) -> Bool {
    byte == hyphen || TextBytes.isWhiteSpace(byte)
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 { 65...90 ~= byte ? byte + 32 : byte }

  private static func uppercase(_ byte: UInt8) -> UInt8 { 97...122 ~= byte ? byte - 32 : byte }
}

/// Converts bits from groups of one size to groups of another, the first bits first.
private struct Bits {
  private var value: UInt32 = 0
  private var count: UInt32 = 0

  package mutating func push(_ bits: UInt8, _ number: UInt32) {
    value = (value << number | UInt32(bits)) & 0xFFFF
    count += number
  }

  /// Returns the next `number` bits, or `nil` if there are fewer.
  package mutating func pop(_ number: UInt32) -> UInt8? {
    guard count >= number else { return nil }
    count -= number
    return UInt8(truncatingIfNeeded: value >> count & ((1 << number) - 1))
  }
}
