extension JSONScanner {
  /// Reads what follows a backslash; `nil` if it is no escape.
  mutating func escapedScalar(in bytes: RawSpan) -> Unicode.Scalar? {
    switch take(in: bytes) {
    case UInt8(ascii: "\""): "\""
    case UInt8(ascii: "\\"): "\\"
    case UInt8(ascii: "/"): "/"
    case UInt8(ascii: "b"): "\u{8}"
    case UInt8(ascii: "f"): "\u{C}"
    case UInt8(ascii: "n"): "\n"
    case UInt8(ascii: "r"): "\r"
    case UInt8(ascii: "t"): "\t"
    case UInt8(ascii: "u"): escapedUnits(in: bytes)
    default: nil
    }
  }

  /// Reads the four digits after `\u`, and the second half of a surrogate pair.
  private mutating func escapedUnits(in bytes: RawSpan) -> Unicode.Scalar? {
    guard let first = unit(in: bytes) else { return nil }
    guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
    guard take(in: bytes) == UInt8(ascii: "\\"), take(in: bytes) == UInt8(ascii: "u"),
      let second = unit(in: bytes), UTF16.isTrailSurrogate(second)
    else { return nil }
    return UTF16.decode(UTF16.EncodedScalar([first, second]))
  }

  private mutating func unit(in bytes: RawSpan) -> UInt16? {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = take(in: bytes), byte < 0x80,
        let digit = Character(Unicode.Scalar(byte)).hexDigitValue
      else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}
