internal import KeychainCredentials

/// Rows of words, laid out in columns for a terminal or as lines for a program.
struct TextTable {
  let header: [String]
  let rows: [[String]]

  /// Columns as wide as their longest word, with the header, within the terminal's width; control
  /// characters are escaped.
  var columns: String { columns(within: StandardOutput.width) }

  /// One line for each row, fields separated by tabs, without the header.
  ///
  /// In a field, a backslash, a tab and a newline are written `\\`, `\t` and `\n`, and other
  /// control characters as `\u{…}`.
  var lines: String {
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
  var trimmingTrailingSpaces: String {
    String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)])
  }
}
