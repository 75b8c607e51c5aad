package import FoundationEssentials

extension URL {
  /// Parses an address as a person writes it, or returns `nil` if no host has such characters.
  ///
  /// A host in another script is converted to the form in DNS, such as `xn--4ca.example` (RFC
  /// 5891). `URL(string:)` does so only if Foundation has ICU. Without ICU, it percent-encodes any
  /// character of a host, which names no machine.
  package init?(written text: String) {
    guard let range = Self.rangeOfHost(in: text) else {
      self.init(string: text)
      return
    }
    guard let host = Self.asciiHost(text[range]) else { return nil }
    self.init(string: text[..<range.lowerBound] + host + text[range.upperBound...])
  }

  /// The range of the host in an address with an authority (RFC 3986, section 3.2).
  private static func rangeOfHost(in text: String) -> Range<String.Index>? {
    var rest = text[...]
    let scheme = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    if rest[scheme.endIndex...].first == ":" {
      rest = rest[rest.index(after: scheme.endIndex)...]
    }
    guard rest.hasPrefix("//") else { return nil }
    var authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
    if let end = authority.lastIndex(of: "@") {
      authority = authority[authority.index(after: end)...]
    }
    guard authority.first != "[" else { return nil }
    let host = authority.prefix { $0 != ":" }
    return host.isEmpty ? nil : host.startIndex..<host.endIndex
  }

  private static func asciiHost(_ host: Substring) -> String? {
    var isValid = true
    let host = host.utf8.allSatisfy { $0 < 0x80 } ? String(host) : host.lowercased()
    let labels = host.split(separator: ".", omittingEmptySubsequences: false).map { label in
      if label.utf8.allSatisfy({ $0 < 0x80 }) {
        isValid = isValid && isASCIIHost(label.utf8)
        return String(label)
      }
      let encoded = Punycode.label(label)
      isValid = isValid && encoded != nil
      return encoded ?? ""
    }
    return isValid ? labels.joined(separator: ".") : nil
  }

  /// Whether the bytes are a `reg-name` (RFC 3986, section 3.2.2).
  private static func isASCIIHost(_ bytes: Substring.UTF8View) -> Bool {
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        continue
      case UInt8(ascii: "%"):
        guard let one = rest.popFirst(), let two = rest.popFirst(), isDigit(one), isDigit(two)
        else { return false }
      case _ where "-._~!$&'()*+,;=".utf8.contains(byte): continue
      default: return false
      }
    }
    return true
  }

  private static func isDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }
}

/// The ASCII form of a host's label (RFC 3492).
private enum Punycode {
  /// Returns a label with DNS's prefix, or `nil` if it isn't one, or is too long.
  static func label(_ text: Substring) -> String? {
    let scalars = text.unicodeScalars
    guard scalars.count <= 63, scalars.allSatisfy(isAllowed),
      let encoded = encode(scalars.map(\.value)), encoded.utf8.count <= 59
    else { return nil }
    return "xn--" + encoded
  }

  /// Whether a character may be part of a label unchanged.
  ///
  /// A compatibility character such as a wide letter may not, and neither may an accent that could
  /// be combined with its letter.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return scalar == "-" || Character(scalar).isLetter || Character(scalar).isNumber
    }
    if scalar == "ß" || scalar == "ς" { return true }
    guard !(0x300...0x36F).contains(scalar.value), !scalar.properties.changesWhenNFKCCaseFolded
    else { return false }
    return switch scalar.properties.generalCategory {
    case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark,
      .decimalNumber, .letterNumber, .otherSymbol:
      true
    default: false
    }
  }

  private static func encode(_ input: [UInt32]) -> String? {
    let basic = input.filter { $0 < 0x80 }
    var output = basic.compactMap { Unicode.Scalar($0).map(Character.init) }
    if !basic.isEmpty { output.append("-") }
    var (next, delta, bias, handled) = (UInt32(0x80), UInt32(0), UInt32(72), UInt32(basic.count))
    while handled < input.count {
      guard let least = input.filter({ $0 >= next }).min() else { return nil }
      // At most 63 characters of 21 bits: no sum overflows.
      delta += (least - next) * (handled + 1)
      next = least
      for value in input {
        if value < next { delta += 1 }
        guard value == next else { continue }
        append(delta, bias, to: &output)
        bias = adapted(delta, count: handled + 1, isFirst: handled == basic.count)
        delta = 0
        handled += 1
      }
      delta += 1
      next += 1
    }
    return String(output)
  }

  private static func append(_ delta: UInt32, _ bias: UInt32, to output: inout [Character]) {
    let digits = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    var rest = delta
    var position: UInt32 = 36
    while true {
      let threshold = position <= bias ? 1 : min(26, position - bias)
      if rest < threshold { break }
      output.append(digits[Int(threshold + (rest - threshold) % (36 - threshold))])
      rest = (rest - threshold) / (36 - threshold)
      position += 36
    }
    output.append(digits[Int(rest)])
  }

  private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / count
    var bias: UInt32 = 0
    while delta > 455 {
      delta /= 35
      bias += 36
    }
    return bias + 36 * delta / (delta + 38)
  }
}
