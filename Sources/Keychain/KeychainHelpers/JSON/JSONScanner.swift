internal import KeychainCredentials
internal import KeychainSecrets

/// A strict reader of JSON that may have secrets in it: texts go from guarded memory to guarded
/// memory.
///
/// It reads what RFC 8259 says and nothing more. Text must be valid UTF-8, and half of a surrogate
/// pair is an error, because it could only be replaced by something else. Errors say where, never
/// what.
struct JSONScanner {
  /// How deep arrays and objects may lie in each other.
  private static let maximumDepth = 64

  private(set) var position = 0

  /// Reads one object that is the whole text.
  ///
  /// - Parameters:
  ///   - bytes: The text.
  ///   - member: Reads the value of a member, or skips it; its argument is the name.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/invalidArgument``,
  ///   ``KeychainError/Code/insufficientMemory``, or what `member` throws.
  mutating func readObject(
    in bytes: RawSpan,
    member: (inout JSONScanner, borrowing SecretBytes) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try object(in: bytes, member: member)
    skipSpace(in: bytes)
    guard position == bytes.byteCount else { throw malformed }
  }

  /// Reads a string.
  mutating func readString(in bytes: RawSpan) throws(KeychainError) -> SecretBytes {
    try expect("\"", in: bytes)
    do throws(SecretsError) {
      var text = try SecretBuffer(capacity: 256)
      let isComplete = try readCharacters(into: &text, in: bytes)
      let isText = text.withBytes { (try? UTF8Span(validating: Span<UInt8>(_bytes: $0))) != nil }
      if isComplete, isText { return try text.finish() }
    } catch {
      throw KeychainError(error)
    }
    throw malformed
  }

  /// Reads up to the closing quote; returns whether all is right.
  private mutating func readCharacters(
    into text: inout SecretBuffer, in bytes: RawSpan
  ) throws(SecretsError) -> Bool {
    while let byte = take(in: bytes), byte >= 0x20 {
      if byte == UInt8(ascii: "\"") { return true }
      guard byte == UInt8(ascii: "\\") else {
        try text.append(byte)
        continue
      }
      guard let scalar = escapedScalar(in: bytes), let units = UTF8.encode(scalar) else {
        return false
      }
      for unit in units { try text.append(unit) }
    }
    return false
  }

  /// Reads a string, or skips a value of another kind.
  mutating func readIfString(in bytes: RawSpan) throws(KeychainError) -> SecretBytes? {
    skipSpace(in: bytes)
    guard peek(in: bytes) == UInt8(ascii: "\"") else {
      try skipValue(in: bytes)
      return nil
    }
    return try readString(in: bytes)
  }

  /// Skips a value of any kind.
  mutating func skipValue(in bytes: RawSpan) throws(KeychainError) {
    try skipValue(in: bytes, depth: 1)
  }
}

// MARK: - Values

extension JSONScanner {
  /// Reads an object inside of another value.
  mutating func object(
    in bytes: RawSpan,
    member: (inout JSONScanner, borrowing SecretBytes) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try list(from: "{", to: "}", in: bytes) { scanner throws(KeychainError) in
      let name = try scanner.readString(in: bytes)
      try scanner.expect(":", in: bytes)
      try member(&scanner, name)
    }
  }

  /// Reads what lies between two brackets, with commas between the elements.
  private mutating func list(
    from opening: Unicode.Scalar, to closing: Unicode.Scalar, in bytes: RawSpan,
    element: (inout JSONScanner) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    try expect(opening, in: bytes)
    if skip(closing, in: bytes) { return }
    repeat { try element(&self) } while skip(",", in: bytes)
    try expect(closing, in: bytes)
  }

  private mutating func skipValue(in bytes: RawSpan, depth: Int) throws(KeychainError) {
    guard depth <= Self.maximumDepth else { throw malformed }
    skipSpace(in: bytes)
    switch peek(in: bytes) {
    case UInt8(ascii: "\""): _ = try readString(in: bytes)
    case UInt8(ascii: "{"):
      try object(in: bytes) { scanner, _ throws(KeychainError) in
        try scanner.skipValue(in: bytes, depth: depth + 1)
      }
    case UInt8(ascii: "["):
      try list(from: "[", to: "]", in: bytes) { scanner throws(KeychainError) in
        try scanner.skipValue(in: bytes, depth: depth + 1)
      }
    case UInt8(ascii: "t"): try skipWord("true", in: bytes)
    case UInt8(ascii: "f"): try skipWord("false", in: bytes)
    case UInt8(ascii: "n"): try skipWord("null", in: bytes)
    default: try skipNumber(in: bytes)
    }
  }

  private mutating func skipWord(_ word: String, in bytes: RawSpan) throws(KeychainError) {
    for unit in word.utf8 where take(in: bytes) != unit { throw malformed }
  }

  private mutating func skipNumber(in bytes: RawSpan) throws(KeychainError) {
    if peek(in: bytes) == UInt8(ascii: "-") { position += 1 }
    if peek(in: bytes) == UInt8(ascii: "0") { position += 1 } else { try skipDigits(in: bytes) }
    if peek(in: bytes) == UInt8(ascii: ".") {
      position += 1
      try skipDigits(in: bytes)
    }
    guard let byte = peek(in: bytes), byte | 0x20 == UInt8(ascii: "e") else { return }
    position += 1
    if let sign = peek(in: bytes), [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(sign) {
      position += 1
    }
    try skipDigits(in: bytes)
  }

  private mutating func skipDigits(in bytes: RawSpan) throws(KeychainError) {
    let start = position
    while let byte = peek(in: bytes), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      position += 1
    }
    guard position > start else { throw malformed }
  }
}

// MARK: - Bytes

extension JSONScanner {
  private var malformed: KeychainError {
    KeychainError(
      .invalidArgument, "what was sent is not the JSON that is expected, at byte \(position)")
  }

  private func peek(in bytes: RawSpan) -> UInt8? {
    position < bytes.byteCount ? bytes.byte(at: position) : nil
  }

  /// Takes the next byte; `nil` at the end.
  mutating func take(in bytes: RawSpan) -> UInt8? {
    guard let byte = peek(in: bytes) else { return nil }
    position += 1
    return byte
  }

  private mutating func skipSpace(in bytes: RawSpan) {
    while let byte = peek(in: bytes), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }

  /// Skips white space, and a mark if it follows.
  private mutating func skip(_ mark: Unicode.Scalar, in bytes: RawSpan) -> Bool {
    skipSpace(in: bytes)
    guard peek(in: bytes) == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }

  private mutating func expect(
    _ mark: Unicode.Scalar, in bytes: RawSpan
  ) throws(KeychainError) {
    guard skip(mark, in: bytes) else { throw malformed }
  }
}
