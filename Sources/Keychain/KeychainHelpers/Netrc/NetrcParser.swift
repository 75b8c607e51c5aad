internal import KeychainCredentials
internal import KeychainSecrets

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
        throw .unreadableNetrc(word.line, "has a word that is none of netrc's")
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
    let name: String?
    do { name = try value.name(in: bytes) } catch { throw KeychainError(error) }
    guard let name else { throw .unreadableNetrc(value.line, "has a name that is not UTF-8") }
    return (value, name)
  }
}

extension NetrcEntry {
  var isMacro: Bool { if case .macro = subject { true } else { false } }

  /// Whether it has a login or password already: curl takes the first of two passwords, Python the last.
  fileprivate func has(_ keyword: NetrcKeyword) -> Bool {
    switch keyword {
    case .login: login != nil
    case .password: hasPassword
    default: false
    }
  }
}
