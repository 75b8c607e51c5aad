extension String {
  /// Returns the text in lines of at most `width` columns, broken between words.
  ///
  /// Text in single quotes stays on one line if it fits, because it is there to be copied. A word
  /// that is longer than a line stays whole.
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

  /// The words; a quotation in single quotes is one word.
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

  /// How many columns of a terminal the text needs.
  package var columnCount: Int { reduce(0) { $0 + $1.columnCount } }

  /// Returns the beginning of the text that fits the width, with a sign at the end if more follows.
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
}

extension ArraySlice<String> {
  /// The last word of the quotation that the first word begins; `nil` if there is no quotation, or
  /// no end of it.
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
