internal import PrephirencesSystem

/// Facts, one per line.
package enum FactLines {
  /// Returns pairs as lines with aligned values, limited to the width of a terminal.
  package static func text(
    _ pairs: [(String, String)], within columns: Int? = StandardOutput.width
  ) -> String {
    let width = pairs.map(\.0.count).max() ?? 0
    return pairs.map { name, value in
      let margin = String(repeating: " ", count: width - name.count + 1)
      let line = "\(name):\(margin)\(value.visible)"
      return (columns.map { line.wrapped(to: $0, indent: width + 2) } ?? line) + "\n"
    }.joined()
  }
}
