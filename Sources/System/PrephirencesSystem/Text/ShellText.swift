/// Words of commands that a person types.
package enum ShellText {
  /// Returns a word as POSIX shells read it, in quotes unless it is plain.
  package static func word(_ word: String) -> String {
    guard word.isEmpty || !word.utf8.allSatisfy(isPlain) else { return word }
    return "'" + word.replacing("'", with: "'\\''") + "'"
  }

  /// Returns a word for a message as a shell reads it, in quotes unless it is plain.
  ///
  /// Characters that messages would escape, such as a newline, are written as octal numbers, in the
  /// quotes `$'…'` that bash, ksh and zsh know.
  package static func quoted(_ word: String) -> String {
    guard word.unicodeScalars.contains(where: needsNumber) else { return Self.word(word) }
    let escaped = word.unicodeScalars.map { scalar -> String in
      if scalar == "'" || scalar == "\\" { return "\\\(scalar)" }
      // Messages may be wrapped at a space.
      guard scalar == " " || needsNumber(scalar) else { return String(scalar) }
      return String(scalar).utf8.map { byte in
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
      }.joined()
    }
    return "$'" + escaped.joined() + "'"
  }

  /// Whether messages would show another character instead.
  private static func needsNumber(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "`" || String(scalar).visible != String(scalar)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "@%+=:,./-_".utf8.contains(byte)
    }
  }
}
