extension String {
  /// The text with every byte percent-encoded except ASCII letters, digits, `-._~` and the kept
  /// ones.
  package func percentEncoded(keeping kept: String = "") -> String {
    percentEncoded(keepingOnly: "-._~" + kept)
  }

  /// The text with every byte percent-encoded except ASCII letters, digits and the kept ones.
  package func percentEncoded(keepingOnly kept: String) -> String {
    var bytes: [UInt8] = []
    for byte in utf8 {
      if byte.isLetterOrDigit || kept.utf8.contains(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), (byte >> 4).hexDigit, (byte & 0xF).hexDigit]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The decoded text; `nil` if this isn't percent-encoded UTF-8; a `+` stays.
  package var percentDecoded: String? {
    guard utf8.contains(UInt8(ascii: "%")) else { return self }
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst()?.hexadecimalValue,
        let low = rest.popFirst()?.hexadecimalValue
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// The digit of a value below 16, in upper case as RFC 3986 recommends.
  fileprivate var hexDigit: UInt8 { self < 10 ? 0x30 + self : 0x37 + self }

  /// The value of a hexadecimal digit.
  fileprivate var hexadecimalValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - 0x30
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - 0x37
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - 0x57
    default: nil
    }
  }
}

extension String {
  /// Returns whether both strings have the same UTF-8 bytes; `==` uses canonical equivalence.
  package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

  /// Returns whether this string's bytes order before the other's.
  package func hasLesserBytes(than other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }

  package func hashUTF8(into hasher: inout Hasher) {
    hasher.combine(utf8.count)
    for byte in utf8 { hasher.combine(byte) }
  }

  /// The text with ASCII capitals as small letters; other bytes stay.
  package var foldingASCIICase: String {
    String(
      decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
      as: UTF8.self)
  }

  /// Returns whether both strings have the same UTF-8 bytes, apart from the case of ASCII letters.
  package func hasSameBytesFoldingASCIICase(as other: String) -> Bool {
    foldingASCIICase.hasSameBytes(as: other.foldingASCIICase)
  }
}

// MARK: - Hexadecimal digits

extension [UInt8] {
  package var hexadecimal: String {
    // `String(format:)` needs a twentieth of a command's whole time for its setup.
    let alphabet = Array("0123456789abcdef".utf8)
    var digits: [UInt8] = []
    for byte in self { digits += [alphabet[Int(byte >> 4)], alphabet[Int(byte & 15)]] }
    return String(decoding: digits, as: UTF8.self)
  }

  /// Reads pairs of hexadecimal digits of either case; `nil` if there is anything else.
  package init?(hexadecimal text: some Collection<UInt8>) {
    let values = text.compactMap(\.hexadecimalValue)
    guard values.count == text.count, values.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }

  // MARK: - Base64

  /// The bytes in base64 (RFC 4648, section 4), for contents that are not secret.
  package var base64: String { Base64.encode(self) }

  /// Reads base64; `nil` if the text is invalid.
  package init?(base64 text: ArraySlice<UInt8>) {
    guard let bytes = Base64.decode(text) else { return nil }
    self = bytes
  }
}

private enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The value of each character; 64 for others.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let second = index + 1 < bytes.count ? bytes[index + 1] : nil
      let third = index + 2 < bytes.count ? bytes[index + 2] : nil
      let first = bytes[index]
      text.append(alphabet[Int(first >> 2)])
      text.append(alphabet[Int((first & 3) << 4 | (second ?? 0) >> 4)])
      text.append(
        second.map { alphabet[Int(($0 & 15) << 2 | (third ?? 0) >> 6)] } ?? UInt8(ascii: "="))
      text.append(third.map { alphabet[Int($0 & 63)] } ?? UInt8(ascii: "="))
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var group: UInt32 = 0
    var count = 0
    let values = values
    for character in text.dropLast(padding) {
      let value = values[Int(character)]
      guard value < 64 else { return nil }
      group = group << 6 | UInt32(value)
      count += 1
      if count == 4 {
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        bytes.append(UInt8(truncatingIfNeeded: group >> 8))
        bytes.append(UInt8(truncatingIfNeeded: group))
        group = 0
        count = 0
      }
    }
    switch count {
    case 0 where padding == 0: break
    case 2 where padding == 2: bytes.append(UInt8(truncatingIfNeeded: group >> 4))
    case 3 where padding == 1:
      bytes.append(UInt8(truncatingIfNeeded: group >> 10))
      bytes.append(UInt8(truncatingIfNeeded: group >> 2))
    default: return nil
    }
    return bytes
  }
}
