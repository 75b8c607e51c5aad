internal import PrephirencesSystem

/// Rows of words, as columns for a terminal or as lines for a program.
package struct TextTable {
  package let header: [String]
  package let rows: [[String]]

  /// How many of the first columns identify the subject of a row.
  private let nameCount: Int

  /// Creates a table; each row has as many words as the header.
  ///
  /// The first `nameCount` columns identify the subject of a row. They are shortened last, and
  /// different names never look the same.
  package init(header: [String], rows: [[String]], nameCount: Int = 1) {
    self.header = header
    self.rows = rows
    self.nameCount = nameCount
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

  /// The minimum width of a column on any terminal.
  private static let leastWidth = 4

  /// Returns columns with a header, as wide as their longest words, with control characters
  /// escaped.
  ///
  /// A table that is too wide loses first the empty columns, then the time of day, then the ends of
  /// its longest words, which `…` replaces, and finally the middle of its longest names.
  package func columns(within width: Int?) -> String {
    var table = ([header] + rows).map { $0.map(\.visible) }
    guard let width else {
      return Self.laidOut(table, widths: Self.widths(of: table), nameCount: nameCount)
    }
    var nameCount = min(nameCount, header.count)
    if !Self.fits(table, width) {
      let kept = Self.columnsInUse(table)
      table = table.map { row in kept.map { row[$0] } }
      nameCount = kept.count { $0 < nameCount }
    }
    if !Self.fits(table, width) { table = Self.withDaysOnly(table) }
    var widths = Self.widths(of: table)
    Self.shrink(&widths, nameCount..<widths.count, to: width)
    Self.shrink(&widths, 0..<nameCount, to: width)
    for column in 0..<nameCount {
      let names = Set(table.dropFirst().map { $0[column] })
      widths[column] = Self.distinguishing(names, from: widths[column])
    }
    return Self.laidOut(table, widths: widths, nameCount: nameCount)
  }

  private static func laidOut(_ table: [[String]], widths: [Int], nameCount: Int) -> String {
    table.map { row in
      let cells = row.indices.map { column in
        let width = widths[column]
        let cut = column < nameCount ? row[column].cutInside(to: width) : row[column].cut(to: width)
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

  /// Shrinks some columns, the widest first, until the table fits.
  private static func shrink(_ widths: inout [Int], _ columns: Range<Int>, to width: Int) {
    while total(widths) > width, let widest = widths[columns].max(), widest > leastWidth,
      let index = widths[columns].lastIndex(of: widest)
    {
      widths[index] -= 1
    }
  }

  /// Returns the smallest width, starting with a given one, at which different names look
  /// different.
  private static func distinguishing(_ names: Set<String>, from width: Int) -> Int {
    var (width, alike) = (width, names)
    while true {
      let groups = Dictionary(grouping: alike) { $0.cutInside(to: width) }
      alike = Set(groups.values.filter { $0.count > 1 }.joined())
      if alike.isEmpty { return width }
      width += 1
    }
  }

  private static func columnsInUse(_ table: [[String]]) -> [Int] {
    (table.first ?? []).indices.filter { column in
      table.dropFirst().contains { !$0[column].isEmpty }
    }
  }

  /// Removes the time in columns that contain only dates.
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

extension String {
  /// Wraps a line of an example so that the lines still run the same command when copied.
  ///
  /// A backslash breaks lines between words, where a shell ignores it: not inside quotes, except in
  /// a command substitution. Without such a place, a line stays longer.
  package func exampleBroken(to width: Int) -> String {
    let margin = String(prefix { $0 == " " })
    var (lines, line) = ([String](), "")
    for piece in shellPieces {
      let longer = line.isEmpty ? margin + piece : line + " " + piece
      // Leave space for the backslash.
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

/// The quotation at a position in a command line.
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
