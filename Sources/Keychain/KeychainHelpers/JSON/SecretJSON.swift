internal import KeychainSecrets
internal import PrephirencesSystem

// JSON that may contain secrets: texts stay in guarded memory, and errors give the place, never the
// contents.

/// Reads one object that is the whole text; `member` reads or skips each value.
func readObject(
  _ json: borrowing SecretBytes,
  member: (borrowing SecretBytes, inout JSONScanner, Span<UInt8>) throws -> Void
) throws(KeychainError) {
  var scanner = JSONScanner()
  do {
    try json.withBytes { bytes throws in
      let bytes = Span<UInt8>(_bytes: bytes)
      try scanner.object(in: bytes) { scanner in
        let name = try scanner.secret(in: bytes)
        try scanner.colon(in: bytes)
        try member(name, &scanner, bytes)
      }
      try scanner.end(in: bytes)
    }
  } catch let error as KeychainError {
    throw error
  } catch {
    let position = (error as? JSONError)?.position ?? scanner.position
    throw KeychainError(
      .invalidArgument, "the input is not the expected JSON, at byte \(position)")
  }
}

extension JSONScanner {
  /// Reads a text into guarded memory.
  mutating func secret(in bytes: Span<UInt8>) throws -> SecretBytes {
    var text = try SecretBuffer(capacity: 256)
    try self.text(in: bytes) { try text.append($0) }
    let isText = text.withBytes { (try? UTF8Span(validating: Span<UInt8>(_bytes: $0))) != nil }
    guard isText else { throw failure("a text is not UTF-8") }
    return try text.finish()
  }

  /// Reads a text that is not secret; skips a value of another kind.
  mutating func textIfAny(in bytes: Span<UInt8>) throws -> String? {
    if case .text = try kind(in: bytes) { return try secret(in: bytes).text() }
    try skipValue(in: bytes)
    return nil
  }
}

extension SecretBuffer {
  /// Appends a string of JSON: UTF-8 in quotes, with escapes only where JSON needs them.
  mutating func appendJSON(_ text: RawSpan) throws(KeychainError) {
    try append(UInt8(ascii: "\""))
    try appendJSONCharacters(text)
    try append(UInt8(ascii: "\""))
  }

  /// Appends the text of a string of JSON without its quotes.
  ///
  /// YAML reads the same text: characters that it does not allow, or reads as line breaks, are
  /// escaped, too.
  mutating func appendJSONCharacters(_ text: RawSpan) throws(KeychainError) {
    var offset = 0
    while offset < text.byteCount {
      let byte = text.byte(at: offset)
      let (escaped, count) = text.escapedScalar(at: offset)
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        try append(UInt8(ascii: "\\"))
        try append(byte)
      } else if let escaped {
        let digits = String(escaped, radix: 16, uppercase: true)
        try append("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
      } else {
        try append(byte)
      }
      offset += count
    }
  }

  mutating func appendJSON(_ text: String) throws(KeychainError) {
    var text = text
    text.makeContiguousUTF8()
    try appendJSON(text.utf8Span.span.bytes)
  }
}

extension RawSpan {
  /// Returns the control character, line separator or noncharacter that begins here, and the number
  /// of its bytes; otherwise `nil` and 1.
  fileprivate func escapedScalar(at offset: Int) -> (scalar: UInt32?, count: Int) {
    let first = byte(at: offset)
    if first < 0x20 || first == 0x7F { return (UInt32(first), 1) }
    func next(_ distance: Int) -> UInt8 {
      offset + distance < byteCount ? byte(at: offset + distance) : 0
    }
    switch (first, next(1), next(2)) {
    case (0xC2, 0x80..<0xA0, _): return (UInt32(next(1)), 2)
    case (0xE2, 0x80, 0xA8), (0xE2, 0x80, 0xA9): return (0x2000 + UInt32(next(2) - 0x80), 3)
    case (0xEF, 0xBF, 0xBE), (0xEF, 0xBF, 0xBF): return (0xFFC0 + UInt32(next(2) - 0x80), 3)
    default: return (nil, 1)
    }
  }
}

extension SecretBytes {
  /// The text of bytes that a scanner has checked; not for secrets.
  borrowing func text() -> String { withBytes { $0.text } ?? "" }

  borrowing func isText(_ text: String) -> Bool {
    withBytes { bytes in
      bytes.byteCount == text.utf8.count
        && text.utf8.enumerated().allSatisfy { bytes.byte(at: $0.offset) == $0.element }
    }
  }
}
