internal import PrephirencesSystem

/// Rows of words, laid out in columns for a terminal or as lines for a program.
package struct TextTable {
  package let header: [String]
  package let rows: [[String]]

  /// Creates a table; each row has as many words as the header.
  package init(header: [String], rows: [[String]]) {
    self.header = header
    self.rows = rows
  }

  /// One line for each row, fields separated by tabs, without the header.
  ///
  /// In a field, a backslash, a tab and a newline are written `\\`, `\t` and `\n`, and other
  /// control characters as `\u{…}`.
  package var lines: String {
    rows.map { row in
      row.map {
        $0.split(separator: "\\", omittingEmptySubsequences: false)
          .map { String($0).visible }.joined(separator: "\\\\")
      }
      .joined(separator: "\t") + "\n"
    }.joined()
  }
}

extension String {
  package var trimmingTrailingSpaces: String {
    String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)])
  }
}

extension TextTable {
  private static let gap = 2

  /// The minimum width of a column, however narrow the terminal is.
  private static let leastWidth = 4

  /// Returns columns with the header, as wide as their longest words; control characters are
  /// escaped.
  ///
  /// If the table is too wide, it loses the empty columns first, then the time of day, and then the
  /// ends of its longest words, which `…` replaces.
  package func columns(within width: Int?) -> String {
    var table = ([header] + rows).map { $0.map(\.visible) }
    guard let width else { return Self.laidOut(table, widths: Self.widths(of: table)) }
    if !Self.fits(table, width) { table = Self.withoutEmptyColumns(table) }
    if !Self.fits(table, width) { table = Self.withDaysOnly(table) }
    return Self.laidOut(table, widths: Self.widths(of: table, within: width))
  }

  private static func laidOut(_ table: [[String]], widths: [Int]) -> String {
    table.map { row in
      let cells = zip(row, widths).map { cell, width in
        let cut = cell.cut(to: width)
        return cut + String(repeating: " ", count: max(0, width - cut.columnCount))
      }
      return cells.joined(separator: String(repeating: " ", count: gap)).trimmingTrailingSpaces
        + "\n"
    }.joined()
  }

  private static func widths(of table: [[String]]) -> [Int] {
    (table.first ?? []).indices.map { column in table.map { $0[column].columnCount }.max() ?? 0 }
  }

  private static func total(_ widths: [Int]) -> Int {
    widths.reduce(0, +) + gap * max(0, widths.count - 1)
  }

  private static func fits(_ table: [[String]], _ width: Int) -> Bool {
    total(widths(of: table)) <= width
  }

  /// Returns the widths within a limit: the widest columns shrink first.
  private static func widths(of table: [[String]], within width: Int) -> [Int] {
    var widths = widths(of: table)
    while total(widths) > width, let widest = widths.max(), widest > leastWidth,
      let index = widths.lastIndex(of: widest)
    {
      widths[index] -= 1
    }
    return widths
  }

  private static func withoutEmptyColumns(_ table: [[String]]) -> [[String]] {
    let columns = (table.first ?? []).indices.filter { column in
      table.dropFirst().contains { !$0[column].isEmpty }
    }
    return table.map { row in columns.map { row[$0] } }
  }

  /// Returns dates without the time in the columns that contain only dates.
  private static func withDaysOnly(_ table: [[String]]) -> [[String]] {
    let columns = (table.first ?? []).indices.filter { column in
      table.dropFirst().allSatisfy { $0[column].isEmpty || $0[column].isMoment }
    }
    return table.enumerated().map { index, row in
      row.enumerated().map { column, cell in
        index > 0 && columns.contains(column) ? DateText.day(ofMoment: cell) : cell
      }
    }
  }
}

extension String {
  /// Whether this is a date and time as lists show it, such as `2027-01-31T12:00:00Z`.
  fileprivate var isMoment: Bool { wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil }
}

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
