internal import FoundationEssentials
internal import PrephirencesSystem

extension [String] {
  /// Returns the name that is most similar to a word; `nil` if none is similar.
  ///
  /// A name is similar if only case, surrounding spaces or the form of Unicode differ, or at most two characters and
  /// fewer than half of them.
  package func resembling(_ word: String) -> String? {
    let others = filter { !$0.hasSameBytes(as: word) }
    if let same = others.first(where: { $0.plainly == word.plainly }) { return same }
    let best = map { ($0, Self.edits($0, word)) }.min { $0.1 < $1.1 }
    return best.flatMap { $0.1 > 0 && $0.1 <= 2 && $0.1 * 2 < word.count ? $0.0 : nil }
  }

  /// Returns how many characters must be inserted, removed, replaced, or swapped with the next one.
  private static func edits(_ first: String, _ second: String) -> Int {
    let (from, to) = (Array<Character>(first), Array<Character>(second))
    guard abs(from.count - to.count) <= 2 else { return .max }
    var rows = [Array<Int>(0...to.count)]
    for (index, character) in from.enumerated() {
      var row = [index + 1]
      for column in to.indices {
        let isSame = character == to[column]
        var least = Swift.min(
          rows[index][column] + (isSame ? 0 : 1), rows[index][column + 1] + 1, row[column] + 1)
        if index > 0, column > 0, character == to[column - 1], from[index - 1] == to[column] {
          least = Swift.min(least, rows[index - 1][column - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[from.count][to.count]
  }
}

extension String {
  /// The text in lower case, without spaces around it.
  fileprivate var plainly: String {
    let start = drop(while: \.isWhitespace)
    let end = start.lastIndex { !$0.isWhitespace }.map(index(after:)) ?? start.startIndex
    return start[..<end].lowercased()
  }
}
