internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// Reads the entries of a netrc file.
struct NetrcParser {
  private var scanner = NetrcScanner()
  private var entries: [NetrcEntry] = []

  mutating func entries(in bytes: RawSpan) throws(KeychainError) -> [NetrcEntry] {
    if bytes.byteCount >= 3, bytes.byte(at: 0) == 0xEF, bytes.byte(at: 1) == 0xBB,
      bytes.byte(at: 2) == 0xBF
    {
      throw .unreadableNetrc(1, "begins with a byte order mark, the bytes EF BB BF")
    }
    while let word = try scanner.word(in: bytes) {
      guard let keyword = word.keyword(in: bytes) else {
        try addUnknown(word)
        continue
      }
      switch keyword {
      case .machine:
        let (host, name) = try text(after: word, in: bytes)
        entries.append(NetrcEntry(.machine(name), at: word))
        extend(by: host, in: bytes)
      case .default: entries.append(NetrcEntry(.default, at: word))
      case .macdef:
        _ = try value(after: word, in: bytes)
        entries.append(NetrcEntry(.macro, at: word))
        scanner.passMacro(in: bytes)
      case .login, .password, .account: try addValue(of: keyword, word, in: bytes)
      }
    }
    return entries
  }

  /// Notes a word that some programs know, such as `port` or its value; others refuse the whole
  /// file.
  private mutating func addUnknown(_ word: NetrcWord) throws(KeychainError) {
    guard let last = entries.indices.last, !entries[last].isMacro else {
      throw .unreadableNetrc(word.line, "has a word that netrc does not have")
    }
    entries[last].extend(by: word)
    entries[last].hasUnknownWord = true
  }

  private mutating func addValue(
    of keyword: NetrcKeyword, _ word: NetrcWord, in bytes: RawSpan
  ) throws(KeychainError) {
    guard let last = entries.indices.last, !entries[last].isMacro else {
      throw .unreadableNetrc(word.line, "has a value that belongs to no host")
    }
    entries[last].extend(by: word)
    if entries[last].has(keyword) { entries[last].isUnclear = true }
    switch keyword {
    case .login:
      let (login, name) = try text(after: word, in: bytes)
      entries[last].login = name
      extend(by: login, in: bytes)
    case .password:
      let password = try value(after: word, in: bytes)
      entries[last].password = password
      extend(by: password, in: bytes)
    default:
      entries[last].hasAccount = true
      extend(by: try value(after: word, in: bytes), in: bytes)
    }
  }

  private mutating func extend(by word: NetrcWord, in bytes: RawSpan) {
    guard let last = entries.indices.last else { return }
    entries[last].extend(by: word)
    if word.isUnclear(in: bytes) { entries[last].isUnclear = true }
  }

  private mutating func value(
    after word: NetrcWord, in bytes: RawSpan
  ) throws(KeychainError) -> NetrcWord {
    guard let value = try scanner.value(in: bytes) else {
      throw .unreadableNetrc(word.line, "ends before the value of its last word")
    }
    return value
  }

  private mutating func text(
    after word: NetrcWord, in bytes: RawSpan
  ) throws(KeychainError) -> (NetrcWord, String) {
    let value = try value(after: word, in: bytes)
    guard let name = try value.name(in: bytes) else {
      throw .unreadableNetrc(value.line, "has a name that is not UTF-8")
    }
    return (value, name)
  }
}

extension NetrcEntry {
  var isMacro: Bool { if case .macro = subject { true } else { false } }

  /// Whether it has a login or password already: of two passwords, curl takes the first, Python the
  /// last.
  fileprivate func has(_ keyword: NetrcKeyword) -> Bool {
    switch keyword {
    case .login: login != nil
    case .password: hasPassword
    default: false
    }
  }
}

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

  /// Skips the commands of a macro, which end with an empty line.
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

  /// White space that separates words for all programs; a vertical tab or form feed does only for
  /// some.
  private static func isWhiteSpace(_ byte: UInt8) -> Bool {
    [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte)
  }
}

/// The place of a word in a netrc file.
struct NetrcWord {
  /// The range of its bytes, including quotes.
  let range: Range<Int>

  let line: Int
  let isQuoted: Bool

  /// Whether a comment is between the word before it and this one.
  let followsComment: Bool

  /// Whether programs read it differently.
  ///
  /// In quotes, curl reads `\n` as a line break, Python as an `n`. Without quotes, curl and SwiftPM
  /// read a word that begins with `#` as a comment, Python as the value; Python drops a backslash,
  /// curl keeps it; and a vertical tab or form feed separates words for some programs only.
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
  func value(in bytes: RawSpan) throws(KeychainError) -> SecretBytes {
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

  /// Returns the value as text; `nil` if it is not UTF-8; don't use it for passwords.
  func name(in bytes: RawSpan) throws(KeychainError) -> String? {
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
