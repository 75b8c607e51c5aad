internal import KeychainCredentials
internal import KeychainTerminal

/// Facts, a line each.
enum FactLines {
  /// Pairs as lines, the values below each other, and on a terminal within its width.
  static func text(
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
