internal import KeychainSecrets

/// A line that is being typed, with its editing keys.
struct LineBuffer: ~Copyable {
  private var bytes: SecretBuffer

  init(_ bytes: consuming SecretBuffer) {
    self.bytes = bytes
  }

  var count: Int { bytes.count }

  /// Processes a byte from the terminal.
  ///
  /// - Returns: `false` if the byte ends the line.
  /// - Throws: ``TerminalSession/End/cancelled`` for Control-C, and for Control-D on an empty line.
  mutating func takes(_ byte: UInt8) throws -> Bool {
    switch byte {
    case Key.enter, Key.newline: return false
    case Key.interrupt: throw TerminalSession.End.cancelled
    case Key.endOfInput where bytes.count == 0: throw TerminalSession.End.cancelled
    case Key.endOfInput: break
    case Key.backspace, Key.delete: removeCharacter()
    case Key.killLine: bytes.removeLast(bytes.count)
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

  private enum Key {
    static let interrupt: UInt8 = 0x03
    static let endOfInput: UInt8 = 0x04
    static let backspace: UInt8 = 0x08
    static let newline: UInt8 = 0x0A
    static let enter: UInt8 = 0x0D
    static let killLine: UInt8 = 0x15
    static let delete: UInt8 = 0x7F
  }
}
