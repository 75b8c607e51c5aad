internal import Glibc
internal import SystemPackage

extension String {
  /// The text with escapes for everything that a terminal would interpret or not show.
  package var visible: String { escaping(\.visibleEscape) }

  /// The text with JSON escapes for the same characters, which do not change the meaning of JSON.
  ///
  /// Line breaks stay.
  package var visibleInJSON: String {
    escaping { $0.isASCII && $0 != "\u{7F}" ? nil : $0.escapeInJSON }
  }

  private func escaping(_ escape: (Unicode.Scalar) -> String?) -> String {
    guard unicodeScalars.contains(where: \.isHidden) else { return self }
    var text = ""
    var previous: Unicode.Scalar?
    for index in unicodeScalars.indices {
      let scalar = unicodeScalars[index]
      if scalar.isHidden, !shapesEmoji(at: index, after: previous), let escape = escape(scalar) {
        text += escape
        previous = nil
      } else {
        text.unicodeScalars.append(scalar)
        previous = scalar
      }
    }
    return text
  }

  /// Returns whether a scalar joins two emoji, or selects the form of the one before it.
  private func shapesEmoji(at index: Index, after previous: Unicode.Scalar?) -> Bool {
    guard let previous else { return false }
    let next = unicodeScalars[unicodeScalars.index(after: index)...].first
    switch unicodeScalars[index].value {
    case 0x200D: return (previous.isEmoji || previous.value == 0xFE0F) && next?.isEmoji ?? false
    // The mark after a digit makes it a keycap.
    case 0xFE0E, 0xFE0F: return previous.isEmoji || next?.value == 0x20E3
    default: return false
    }
  }
}

extension Unicode.Scalar {
  /// Whether the scalar moves the cursor, changes the terminal, reorders text or is invisible, so
  /// that two different names look the same.
  ///
  /// Unassigned scalars may get such a meaning.
  fileprivate var isHidden: Bool {
    guard !isASCII else { return value < 0x20 || value == 0x7F }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned: return true
    default: return properties.isDefaultIgnorableCodePoint
    }
  }

  fileprivate var isEmoji: Bool { !isASCII && properties.isEmoji }

  fileprivate var visibleEscape: String {
    switch self {
    case "\t": "\\t"
    case "\n": "\\n"
    default: "\\u{\(String(value, radix: 16))}"
    }
  }

  fileprivate var escapeInJSON: String {
    String(self).utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }
}

extension String {
  /// Returns the text in lines of at most `width` columns, broken between words.
  ///
  /// Text in single quotes stays on one line if it fits, so that it can be copied. A word that is
  /// longer than a line stays whole.
  package func wrapped(to width: Int, indent: Int, keeping room: Int = 0) -> String {
    let margin = String(repeating: " ", count: indent)
    var lines = [""]
    var used = 0
    let pieces = unbreakablePieces(within: width - indent)
    for (index, piece) in pieces.enumerated() {
      let count = piece.columnCount
      let isLast = index == pieces.count - 1
      if index > 0, used + 1 + count + (isLast ? room : 0) > width {
        lines.append(margin + piece)
        used = indent + count
      } else {
        lines[lines.count - 1] += (index > 0 ? " " : "") + piece
        used += count + (index > 0 ? 1 : 0)
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The words; text in single quotes is one word.
  private func unbreakablePieces(within width: Int) -> [String] {
    let words = split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
    var pieces: [String] = []
    var index = 0
    while index < words.count {
      let end = words[index...].endOfQuotation ?? index
      let piece = words[index...end].joined(separator: " ")
      let fits = piece.columnCount <= width
      pieces.append(fits ? piece : words[index])
      index = fits ? end + 1 : index + 1
    }
    return pieces
  }

  /// The number of columns that the text takes on a terminal.
  package var columnCount: Int { reduce(0) { $0 + $1.columnCount } }

  /// Returns as much of the text as fits, with a sign at the end if it is cut.
  package func cut(to width: Int) -> String {
    guard columnCount > width else { return self }
    var kept = ""
    var used = 1
    for character in self {
      used += character.columnCount
      guard used <= width else { break }
      kept.append(character)
    }
    return kept + "…"
  }

  /// Returns the text if it fits, or its beginning and its end with a sign between them.
  package func cutInside(to width: Int) -> String {
    guard columnCount > width else { return self }
    let half = max(0, width - 1) / 2
    var (end, used) = ("", 0)
    for character in reversed() {
      used += character.columnCount
      guard used <= half else { break }
      end.append(character)
    }
    return cut(to: width - half) + String(end.reversed())
  }
}

extension ArraySlice<String> {
  /// The last word of the quotation that begins with the first word; `nil` if none begins or it has
  /// no end.
  fileprivate var endOfQuotation: Int? {
    guard let first, first.drop(while: { $0 == "(" }).first == "'" else { return nil }
    return indices.first { index in
      let word = self[index].reversed().drop { ",;.:)?".contains($0) }
      return word.first == "'" && (index > startIndex || word.count > 1)
    }
  }
}

extension Character {
  /// Two for East Asian scripts and emoji, one for the rest.
  fileprivate var columnCount: Int {
    guard let value = unicodeScalars.first?.value, value >= 0x1100 else { return 1 }
    return Self.wide.contains { $0.contains(value) } ? 2 : 1
  }

  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
    0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
  ]
}

/// The width of a terminal.
package enum TerminalWidth {
  /// The number of columns if a terminal does not report it, and for help in a pipe.
  package static let usual = 80

  /// The maximum for running text, because longer lines are hard to read.
  package static let ofReading = 100

  /// Returns the number of columns of a terminal; `nil` if the descriptor is not a terminal.
  package static func columns(of descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return usual
    }
    return Int(size.ws_col)
  }
}

/// Writes text to a descriptor; `false` with the reason in `errno` if that fails.
@discardableResult
package func writeAll(_ text: String, to descriptor: Int32) -> Bool {
  writeAll(Array(text.utf8), to: descriptor)
}

/// Writes bytes to a descriptor; `false` with the reason in `errno` if that fails.
@discardableResult
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  do throws(Errno) {
    try DescriptorIO.write(bytes, to: FileDescriptor(rawValue: descriptor))
    return true
  } catch {
    errno = error.rawValue
    return false
  }
}
