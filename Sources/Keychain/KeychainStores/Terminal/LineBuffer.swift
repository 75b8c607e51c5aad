internal import KeychainSecrets

/// A line that is being typed, with its editing keys.
struct LineBuffer: ~Copyable {
  private var bytes: SecretBuffer
  private let editsLine: Bool

  /// The beginning of a mark that a terminal sends around what is pasted.
  private var mark: [UInt8] = []

  /// Creates an empty line.
  init(_ bytes: consuming SecretBuffer, editsLine: Bool) {
    self.bytes = bytes
    self.editsLine = editsLine
  }

  var count: Int { bytes.count }

  /// Processes a byte from the terminal.
  ///
  /// Returns `false` if the byte ends the line.
  mutating func takes(_ byte: UInt8) throws -> Bool {
    if editsLine, !mark.isEmpty || byte == Key.escape {
      mark.append(byte)
      guard let whole = Key.pasteMarks.first(where: { $0.starts(with: mark) }) else {
        throw TerminalSession.End.notTaken(Key.escape)
      }
      if mark.count == whole.count { mark = [] }
      return true
    }
    switch byte {
    case Key.enter, Key.newline: return false
    case Key.interrupt: throw TerminalSession.End.cancelled
    case Key.endOfInput where bytes.count == 0: throw TerminalSession.End.cancelled
    case Key.endOfInput: break
    case Key.backspace, Key.delete: removeCharacter()
    case Key.killLine: bytes.removeLast(bytes.count)
    case Key.killWord: removeWord()
    case 0..<0x20 where editsLine: throw TerminalSession.End.notTaken(byte)
    default: try bytes.append(byte)
    }
    return true
  }

  /// Returns the line, and wipes the buffer.
  consuming func finish() throws(SecretsError) -> SecretBytes {
    try bytes.finish()
  }

  /// Removes a whole UTF-8 character.
  private mutating func removeCharacter() {
    while let last = bytes.last, 0x80...0xBF ~= last { bytes.removeLast(1) }
    bytes.removeLast(1)
  }

  /// Removes the last word, and the spaces after it.
  private mutating func removeWord() {
    let space = UInt8(ascii: " ")
    while bytes.last == space { bytes.removeLast(1) }
    while let last = bytes.last, last != space { bytes.removeLast(1) }
  }

  private enum Key {
    static let interrupt: UInt8 = 0x03
    static let endOfInput: UInt8 = 0x04
    static let backspace: UInt8 = 0x08
    static let newline: UInt8 = 0x0A
    static let enter: UInt8 = 0x0D
    static let killLine: UInt8 = 0x15
    static let killWord: UInt8 = 0x17
    static let escape: UInt8 = 0x1B
    static let delete: UInt8 = 0x7F

    /// Bracketed paste: a shell or an editor may have left the terminal in that mode.
    static let pasteMarks = [Array("\u{1B}[200~".utf8), Array("\u{1B}[201~".utf8)]
  }
}
