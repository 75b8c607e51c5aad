internal import PrephirencesSystem

/// Words for a shell.
package enum ShellText {
  /// Returns a word, in single quotes unless a shell takes it literally.
  package static func quoted(_ word: String) -> String {
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

extension String {
  /// Returns a line of an example, broken into lines that still run the same command when copied.
  ///
  /// Lines are broken with a backslash between words, where a shell ignores it: not inside quotes,
  /// except in a command substitution. Without such a place, a line stays longer.
  package func exampleBroken(to width: Int) -> String {
    let margin = String(prefix { $0 == " " })
    var (lines, line) = ([String](), "")
    for piece in shellPieces {
      let longer = line.isEmpty ? margin + piece : line + " " + piece
      // Leaves room for the backslash.
      if longer.columnCount + 2 > width, !line.isEmpty {
        lines.append(line + " \\")
        line = margin + "  " + piece
      } else {
        line = longer
      }
    }
    return (lines + [line]).joined(separator: "\n")
  }

  /// The words; a quotation is one word.
  private var shellPieces: [String] {
    var (pieces, open, quoting) = ([String](), [Substring](), ShellQuoting())
    for word in split(separator: " ") {
      open.append(word)
      quoting.read(word)
      guard quoting.takesLineBreaks else { continue }
      pieces.append(open.joined(separator: " "))
      open = []
    }
    return open.isEmpty ? pieces : pieces + [open.joined(separator: " ")]
  }
}

/// The quotation at a place of a command line.
private struct ShellQuoting {
  private var isSingle = false
  private var isDouble = false
  private var substitutions = 0

  /// Whether a backslash and a newline are the same as a space here.
  var takesLineBreaks: Bool { !isSingle && (!isDouble || substitutions > 0) }

  mutating func read(_ word: Substring) {
    var previous: Character?
    for character in word {
      switch character {
      case "'" where !isDouble: isSingle.toggle()
      case "\"" where !isSingle: isDouble.toggle()
      case "(" where previous == "$" && !isSingle: substitutions += 1
      case ")" where substitutions > 0 && !isSingle: substitutions -= 1
      default: break
      }
      previous = character
    }
  }
}
