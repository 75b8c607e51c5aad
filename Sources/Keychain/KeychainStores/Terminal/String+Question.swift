internal import PrephirencesSystem

extension String {
  /// How many columns stay free after a question: for a space, `yes`, and the cursor.
  private static let roomForAnswer = 5

  /// Returns the question in lines of a terminal, with room for a short answer on the last one.
  package func asQuestion(within columns: Int) -> String {
    var lines = split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    let question = lines.popLast() ?? ""
    let spaces = String(question.reversed().prefix { $0 == " " })
    let words = String(question.dropLast(spaces.count))
    let wrapped = words.wrapped(to: columns, indent: 2, keeping: Self.roomForAnswer) + spaces
    return (lines.map { $0.asLines(within: columns) } + [wrapped]).joined(separator: "\n")
  }

  /// Returns the text with each line wrapped.
  func asLines(within columns: Int) -> String {
    split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0).wrapped(to: columns, indent: 0) }.joined(separator: "\n")
  }
}
