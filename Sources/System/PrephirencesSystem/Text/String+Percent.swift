extension String {
  /// The text with every byte percent-encoded that is neither an ASCII letter or digit, nor one of
  /// `-._~`, nor among the kept ones.
  package func percentEncoded(keeping kept: String = "") -> String {
    percentEncoded(keepingOnly: "-._~" + kept)
  }

  /// The text with every byte percent-encoded that is neither an ASCII letter or digit, nor among
  /// the kept ones.
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

  /// The text that percent-encoded UTF-8 stands for; `nil` if it isn't that.
  ///
  /// A `+` stays one.
  package var percentDecoded: String? {
    guard utf8.contains(UInt8(ascii: "%")) else { return self }
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else {
        return nil
      }
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
  fileprivate var hexValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - 0x30
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - 0x37
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - 0x57
    default: nil
    }
  }
}
