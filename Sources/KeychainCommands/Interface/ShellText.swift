/// Words as a shell takes them.
enum ShellText {
  /// A word, in single quotes unless a shell reads it as it stands.
  static func quoted(_ word: String) -> String {
    guard word.isEmpty || !word.utf8.allSatisfy(isPlain) else { return word }
    return "'" + word.replacing("'", with: "'\\''") + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "@%+=:,./-_".utf8.contains(byte)
    }
  }
}
