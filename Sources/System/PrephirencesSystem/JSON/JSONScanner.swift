/// What is wrong with invalid JSON: the place and the reason, never the contents.
package struct JSONError: Error, Equatable {
  /// The byte at which reading stopped.
  package let position: Int

  package let reason: String
}

/// Reads the tokens of JSON from bytes, strictly as RFC 8259 says.
///
/// It passes text on byte by byte, so that a caller can collect secrets in guarded memory. It
/// checks escapes and control characters; the caller checks that the bytes are UTF-8. Half of a
/// surrogate pair is an error, because it could only be replaced by something else.
package struct JSONScanner {
  /// The next byte to read.
  package private(set) var position = 0

  private let maximumDepth: Int
  private var depth = 0

  /// Creates a scanner that refuses arrays and objects that are nested more deeply.
  package init(maximumDepth: Int = 64) { self.maximumDepth = maximumDepth }

  /// The kind of value whose first byte is next.
  package enum Kind {
    case object, array, text, number, word
  }

  /// Skips white space, and returns the kind of the value that follows.
  package mutating func kind(in bytes: Span<UInt8>) throws -> Kind {
    skipSpace(in: bytes)
    guard let byte = peek(in: bytes) else { throw failure("it ends too early") }
    switch byte {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .text
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    default: return .word
    }
  }

  /// Checks that nothing but white space follows.
  package mutating func end(in bytes: Span<UInt8>) throws {
    skipSpace(in: bytes)
    guard position == bytes.count else { throw failure("something follows the value") }
  }

  /// Returns an error at the next byte.
  package func failure(_ reason: String) -> JSONError {
    JSONError(position: position, reason: reason)
  }

  /// Reads an object; `member` is called at each name, and reads it with ``text(in:to:)``, the
  /// colon with ``colon(in:)``, and the value.
  package mutating func object(
    in bytes: Span<UInt8>, member: (inout JSONScanner) throws -> Void
  ) throws {
    try list(from: "{", to: "}", "an object", in: bytes) { scanner in
      scanner.skipSpace(in: bytes)
      guard scanner.peek(in: bytes) == UInt8(ascii: "\"") else {
        throw scanner.failure("the name of a member is missing")
      }
      try member(&scanner)
    }
  }

  /// Reads an array; `element` is called at each value, and reads or skips it.
  package mutating func array(
    in bytes: Span<UInt8>, element: (inout JSONScanner) throws -> Void
  ) throws { try list(from: "[", to: "]", "an array", in: bytes, element) }

  /// Reads the colon between the name and the value of a member.
  package mutating func colon(in bytes: Span<UInt8>) throws {
    guard skip(":", in: bytes) else { throw failure("a name has no ':'") }
  }

  /// Skips a value of any kind, and checks it.
  package mutating func skipValue(in bytes: Span<UInt8>) throws {
    switch try kind(in: bytes) {
    case .object:
      try object(in: bytes) { scanner in
        try scanner.text(in: bytes) { _ in }
        try scanner.colon(in: bytes)
        try scanner.skipValue(in: bytes)
      }
    case .array: try array(in: bytes) { try $0.skipValue(in: bytes) }
    case .text: try text(in: bytes) { _ in }
    case .number: try number(in: bytes) { _ in }
    case .word: _ = try word(in: bytes)
    }
  }

  private mutating func list(
    from opening: Unicode.Scalar, to closing: Unicode.Scalar, _ name: String,
    in bytes: Span<UInt8>, _ element: (inout JSONScanner) throws -> Void
  ) throws {
    guard skip(opening, in: bytes) else { throw failure("\(name) is missing") }
    if skip(closing, in: bytes) { return }
    depth += 1
    guard depth <= maximumDepth else { throw failure("it is nested too deeply") }
    repeat { try element(&self) } while skip(",", in: bytes)
    depth -= 1
    guard skip(closing, in: bytes) else { throw failure("\(name) has no '\(closing)'") }
  }
}

// MARK: - Words and numbers

extension JSONScanner {
  /// Reads `true` or `false`; `nil` for `null`.
  package mutating func word(in bytes: Span<UInt8>) throws -> Bool? {
    let start = position
    while let byte = peek(in: bytes), UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte {
      position += 1
    }
    for (word, value) in [("true", true), ("false", false), ("null", nil)] as [(String, Bool?)]
    where position - start == word.utf8.count {
      if word.utf8.enumerated().allSatisfy({ bytes[start + $0] == $1 }) { return value }
    }
    position = start
    throw failure("a value is missing")
  }

  /// Reads a number, and passes on its bytes, which keep digits that a `Double` would round.
  package mutating func number(in bytes: Span<UInt8>, to append: (UInt8) throws -> Void) throws {
    let start = position
    _ = skip(oneOf: "-", in: bytes)
    // A whole number has no leading zeros.
    var isValid = skip(oneOf: "0", in: bytes) ? !isDigit(peek(in: bytes)) : skipDigits(in: bytes)
    if skip(oneOf: ".", in: bytes) { isValid = skipDigits(in: bytes) && isValid }
    if skip(oneOf: "eE", in: bytes) {
      _ = skip(oneOf: "+-", in: bytes)
      isValid = skipDigits(in: bytes) && isValid
    }
    guard isValid else { throw failure("a number is malformed") }
    for index in start..<position { try append(bytes[index]) }
  }

  private mutating func skipDigits(in bytes: Span<UInt8>) -> Bool {
    let start = position
    while isDigit(peek(in: bytes)) { position += 1 }
    return position > start
  }

  private func isDigit(_ byte: UInt8?) -> Bool {
    byte.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ?? false
  }

  // MARK: - Text

  /// Reads a text, and passes on its bytes without quotes and escapes.
  package mutating func text(in bytes: Span<UInt8>, to append: (UInt8) throws -> Void) throws {
    guard skip("\"", in: bytes) else { throw failure("a text is missing") }
    while let byte = peek(in: bytes) {
      guard byte >= 0x20 else { throw failure("a text contains a control character") }
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"): for unit in String(try escaped(in: bytes)).utf8 { try append(unit) }
      default: try append(byte)
      }
    }
    throw failure("a text does not end")
  }

  /// Reads what follows a backslash.
  private mutating func escaped(in bytes: Span<UInt8>) throws -> Unicode.Scalar {
    let byte = peek(in: bytes)
    if byte != nil { position += 1 }
    switch byte {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try escapedUnits(in: bytes)
    default: throw failure("a backslash is followed by an unknown character")
    }
  }

  /// Reads the four digits after `\u`, and the second half of a surrogate pair.
  private mutating func escapedUnits(in bytes: Span<UInt8>) throws -> Unicode.Scalar {
    let first = try unit(in: bytes)
    if let scalar = Unicode.Scalar(first) { return scalar }
    if UTF16.isLeadSurrogate(first), skip(oneOf: "\\", in: bytes), skip(oneOf: "u", in: bytes) {
      let second = try unit(in: bytes)
      if UTF16.isTrailSurrogate(second) {
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
      }
    }
    throw failure("a text contains half a character")
  }

  private mutating func unit(in bytes: Span<UInt8>) throws -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek(in: bytes), byte < 0x80,
        let digit = Character(Unicode.Scalar(byte)).hexDigitValue
      else { throw failure("an escape needs four hexadecimal digits") }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }

  // MARK: - Bytes

  private func peek(in bytes: Span<UInt8>) -> UInt8? {
    position < bytes.count ? bytes[position] : nil
  }

  private mutating func skipSpace(in bytes: Span<UInt8>) {
    while let byte = peek(in: bytes), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }

  /// Skips white space, and a mark if it follows.
  private mutating func skip(_ mark: Unicode.Scalar, in bytes: Span<UInt8>) -> Bool {
    skipSpace(in: bytes)
    guard peek(in: bytes) == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }

  private mutating func skip(oneOf marks: StaticString, in bytes: Span<UInt8>) -> Bool {
    guard let byte = peek(in: bytes), marks.description.utf8.contains(byte) else { return false }
    position += 1
    return true
  }
}
