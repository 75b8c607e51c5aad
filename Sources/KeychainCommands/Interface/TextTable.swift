internal import KeychainCredentials

/// Rows of words, laid out in columns for a terminal or as lines for a program.
struct TextTable {
  let header: [String]
  let rows: [[String]]

  /// Columns as wide as their longest word, with the header; control characters are escaped.
  var columns: String {
    let all = ([header] + rows).map { $0.map(\.visible) }
    let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return cells.joined(separator: "  ").trimmingTrailingSpaces + "\n"
    }.joined()
  }

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
  fileprivate var trimmingTrailingSpaces: String {
    String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)])
  }
}
