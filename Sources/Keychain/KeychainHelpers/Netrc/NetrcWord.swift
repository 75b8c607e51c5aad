internal import KeychainSecrets
internal import PrephirencesSystem

/// The place of a word in a netrc file.
struct NetrcWord {
  /// Its bytes, with its quotes.
  let range: Range<Int>

  let line: Int
  let isQuoted: Bool

  /// Whether a comment is between the word before it and this one.
  let followsComment: Bool

  /// Whether programs read it differently.
  ///
  /// In quotes, curl takes `\n` for a line break, Python for an `n`. Without quotes, curl and SwiftPM take
  /// a word that begins with `#` for a comment, Python for the value; Python drops a backslash, curl keeps
  /// it; and a vertical tab or form feed separates words for some programs only.
  func isUnclear(in bytes: RawSpan) -> Bool {
    guard isQuoted else {
      return bytes.byte(at: range.lowerBound) == UInt8(ascii: "#")
        || range.contains { [0x0B, 0x0C, UInt8(ascii: "\\")].contains(bytes.byte(at: $0)) }
    }
    var position = range.lowerBound + 1
    while position < range.upperBound - 1 {
      guard bytes.byte(at: position) == UInt8(ascii: "\\") else {
        position += 1
        continue
      }
      let escaped = bytes.byte(at: position + 1)
      guard escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else { return true }
      position += 2
    }
    return false
  }

  /// Returns the value, without quotes.
  func value(in bytes: RawSpan) throws(SecretsError) -> SecretBytes {
    guard isQuoted else { return try SecretBytes(copying: bytes.extracting(range)) }
    var value = try SecretBuffer()
    var position = range.lowerBound + 1
    while position < range.upperBound - 1 {
      if bytes.byte(at: position) == UInt8(ascii: "\\") { position += 1 }
      try value.append(bytes.byte(at: position))
      position += 1
    }
    return try value.finish()
  }

  /// Returns the value as text, or `nil` if it is not valid UTF-8; not for passwords.
  func name(in bytes: RawSpan) throws(SecretsError) -> String? {
    try value(in: bytes).withBytes { $0.text }
  }

  /// Returns the word in lower case if it has only a few letters, as keywords have.
  func keyword(in bytes: RawSpan) -> NetrcKeyword? {
    guard !isQuoted, range.count <= 8 else { return nil }
    return bytes.extracting(range).text.flatMap { NetrcKeyword($0.foldingASCIICase) }
  }
}

/// The keywords of a netrc file.
enum NetrcKeyword: String {
  case machine, `default`, login, password, account, macdef

  init?(_ word: String) {
    switch word {
    case "user": self = .login
    case "passwd": self = .password
    default: self.init(rawValue: word)
    }
  }
}
