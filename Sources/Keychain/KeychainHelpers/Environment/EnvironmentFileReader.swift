internal import KeychainCredentials
internal import PrephirencesSystem

/// Reads the lines of an ``EnvironmentFile``.
struct EnvironmentFileReader {
  private let bytes: [UInt8]
  let name: String
  private var position = 0
  private var line = 1

  init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }

  mutating func entries() throws(KeychainError) -> [EnvironmentFile.Entry] {
    guard !bytes.starts(with: "\u{FEFF}".utf8) else {
      throw failure("the file begins with a byte order mark; save it as UTF-8 without one")
    }
    var entries: [EnvironmentFile.Entry] = []
    // Names are ASCII.
    var lines: [String: Int] = [:]
    while position < bytes.count {
      if let entry = try entry() {
        if let first = lines.updateValue(entry.line, forKey: entry.name) {
          throw failure("'\(entry.name)' is already set in line \(first)", at: entry.line)
        }
        entries.append(entry)
      }
    }
    return entries
  }

  /// Reads a line, or several if a value in quotes has newlines; `nil` if it sets nothing.
  private mutating func entry() throws(KeychainError) -> EnvironmentFile.Entry? {
    skipBlanks()
    guard let next, next != Self.newline, next != UInt8(ascii: "#"), next != Self.carriageReturn
    else {
      if next == UInt8(ascii: "#") { passComment() }
      try endLine()
      return nil
    }
    let start = line
    let name = try variableName()
    guard take(UInt8(ascii: "=")) else {
      throw failure("there is no '=' right after a name", at: start)
    }
    guard !VariableRules.isClosedToFiles(name) else {
      throw KeychainError(
        .refused, "'\(self.name)', line \(start): a file cannot set '\(name)'",
        recovery: "remove the line; set it yourself if it is needed")
    }
    let value = try value()
    try endLine()
    return EnvironmentFile.Entry(name: name, value: try meaning(of: value, at: start), line: start)
  }

  private mutating func variableName() throws(KeychainError) -> String {
    var word = self.word()
    if word.hasSameBytes(as: "export"), skipBlanks() { word = self.word() }
    guard word.isVariableName else {
      throw failure("a line is NAME=value, with ASCII letters, digits and '_' in the name")
    }
    return word
  }

  private mutating func word() -> String {
    let start = position
    while let next, next != UInt8(ascii: "="), !Self.isBlank(next), next != Self.newline {
      position += 1
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func value() throws(KeychainError) -> ArraySlice<UInt8> {
    guard let next, next == UInt8(ascii: "'") || next == UInt8(ascii: "\"") else {
      return try plainValue()
    }
    let start = line
    position += 1
    let first = position
    while let byte = self.next, byte != next {
      if byte == Self.carriageReturn || byte == 0 {
        throw failure("a value has a carriage return or NUL")
      }
      if next == UInt8(ascii: "\""), Self.isExpanded(byte) {
        throw failure(
          "programs read '$', '`' and '\\' in double quotes differently; use single ones")
      }
      if byte == Self.newline { line += 1 }
      position += 1
    }
    let value = bytes[first..<position]
    guard take(next) else { throw failure("a quote is not closed", at: start) }
    return value
  }

  private mutating func plainValue() throws(KeychainError) -> ArraySlice<UInt8> {
    let first = position
    while let next, !Self.isBlank(next), next != Self.newline, next != Self.carriageReturn {
      // A shell expands `~` at the beginning of a value, and after each `:`.
      let isHome =
        next == UInt8(ascii: "~") && (position == first || bytes[position - 1] == UInt8(ascii: ":"))
      guard !Self.isExpanded(next), !Self.endsWord(next), !isHome else {
        throw failure("programs read this value differently; put it into single quotes")
      }
      position += 1
    }
    return bytes[first..<position]
  }

  /// Reads the rest of a line, which has nothing but a comment.
  private mutating func endLine() throws(KeychainError) {
    let hasBlank = skipBlanks()
    if next == UInt8(ascii: "#") {
      guard hasBlank, !endsPlainValue else {
        throw failure("programs read this value differently; put it into single quotes")
      }
      passComment()
    }
    if next == Self.carriageReturn {
      throw failure(
        "a shell takes a carriage return for a part of the value; end lines with a newline")
    }
    guard next == nil || next == Self.newline else {
      throw failure("programs read this value differently; put it into single quotes")
    }
    position += 1
    line += 1
  }

  private mutating func passComment() {
    while let next, next != Self.newline { position += 1 }
  }

  /// Whether a value without quotes is before the white space here.
  private var endsPlainValue: Bool {
    let before = bytes[..<position].last { !Self.isBlank($0) }
    guard let before, before != Self.newline else { return false }
    return before != UInt8(ascii: "'") && before != UInt8(ascii: "\"")
  }

  private func failure(_ text: String, at line: Int? = nil) -> KeychainError {
    KeychainError(.undecodable, "'\(name)', line \(line ?? self.line): \(text)")
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  @discardableResult private mutating func skipBlanks() -> Bool {
    let start = position
    while let next, Self.isBlank(next) { position += 1 }
    return position > start
  }

  private static let newline = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  /// Whether a shell ends a word here, or other programs begin a comment or quotes.
  private static func endsWord(_ byte: UInt8) -> Bool {
    byte == 0 || "#'\"<>|()&;".utf8.contains(byte)
  }

  private static func isExpanded(_ byte: UInt8) -> Bool {
    [UInt8(ascii: "$"), UInt8(ascii: "`"), UInt8(ascii: "\\")].contains(byte)
  }
}
