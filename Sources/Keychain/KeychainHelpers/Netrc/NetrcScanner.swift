internal import KeychainCredentials
internal import KeychainSecrets

/// Finds the words of a netrc file.
struct NetrcScanner {
  private var position = 0
  private var line = 1
  private var sawComment = false

  /// Returns the next word, without comments before it; `nil` at the end.
  mutating func word(in bytes: RawSpan) throws(KeychainError) -> NetrcWord? {
    while true {
      skipWhiteSpace(in: bytes)
      guard position < bytes.byteCount, bytes.byte(at: position) == UInt8(ascii: "#") else {
        return try value(in: bytes)
      }
      sawComment = true
      while position < bytes.byteCount, bytes.byte(at: position) != UInt8(ascii: "\n") {
        position += 1
      }
    }
  }

  /// Returns the next word, which may begin with `#`; `nil` at the end.
  mutating func value(in bytes: RawSpan) throws(KeychainError) -> NetrcWord? {
    skipWhiteSpace(in: bytes)
    guard position < bytes.byteCount else { return nil }
    let start = position
    let isQuoted = bytes.byte(at: start) == UInt8(ascii: "\"")
    if isQuoted {
      try passQuoted(in: bytes)
    } else {
      while position < bytes.byteCount, !Self.isWhiteSpace(bytes.byte(at: position)) {
        guard bytes.byte(at: position) != 0 else { throw .unreadableNetrc(line, "has a zero byte") }
        position += 1
      }
    }
    defer { sawComment = false }
    return NetrcWord(
      range: start..<position, line: line, isQuoted: isQuoted, followsComment: sawComment)
  }

  /// Passes over the commands of a macro, which end with an empty line.
  mutating func passMacro(in bytes: RawSpan) {
    var isEmpty = false
    while position < bytes.byteCount {
      let byte = bytes.byte(at: position)
      position += 1
      if byte == UInt8(ascii: "\n") {
        line += 1
        if isEmpty { return }
        isEmpty = true
      } else if byte != UInt8(ascii: "\r") {
        isEmpty = false
      }
    }
  }

  private mutating func passQuoted(in bytes: RawSpan) throws(KeychainError) {
    position += 1
    while position < bytes.byteCount {
      switch bytes.byte(at: position) {
      case UInt8(ascii: "\""):
        position += 1
        guard position == bytes.byteCount || Self.isWhiteSpace(bytes.byte(at: position)) else {
          throw .unreadableNetrc(line, "has a word after a quote without a blank between them")
        }
        return
      case UInt8(ascii: "\\") where position + 1 < bytes.byteCount:
        position += bytes.byte(at: position + 1) == UInt8(ascii: "\n") ? 1 : 2
      case UInt8(ascii: "\n"), 0: throw .unreadableNetrc(line, "has a quote that is not closed")
      default: position += 1
      }
    }
    throw .unreadableNetrc(line, "has a quote that is not closed")
  }

  private mutating func skipWhiteSpace(in bytes: RawSpan) {
    while position < bytes.byteCount, Self.isWhiteSpace(bytes.byte(at: position)) {
      if bytes.byte(at: position) == UInt8(ascii: "\n") { line += 1 }
      position += 1
    }
  }

  /// What separates words for all programs; a vertical tab and a form feed do for some only.
  private static func isWhiteSpace(_ byte: UInt8) -> Bool {
    [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte)
  }
}
