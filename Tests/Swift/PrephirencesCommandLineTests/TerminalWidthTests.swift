import PrephirencesSystem
import Testing

@testable import PrephirencesCommandLine

@Suite("Text within the width of a terminal")
struct TerminalWidthTests {
  @Test(arguments: [
    ("one two three", 20, "one two three"), ("one two three", 8, "one two\n  three"),
    ("one two three", 7, "one two\n  three"), ("abcdefghijkl x", 5, "abcdefghijkl\n  x"),
    ("run 'a b c' now", 9, "run\n  'a b c'\n  now"),
    ("run 'a b c d e f g'", 8, "run 'a b\n  c d e\n  f g'"),
    ("it isn't the user's own", 9, "it isn't\n  the\n  user's\n  own"),
    ("日本 日本 日本", 10, "日本 日本\n  日本"),
  ])
  func linesBreakBetweenWords(text: String, width: Int, lines: String) {
    #expect(text.wrapped(to: width, indent: 2) == lines)
  }

  @Test(arguments: [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…")])
  func whatIsCutSaysSo(text: String, width: Int, cut: String) {
    #expect(text.cut(to: width) == cut)
  }

  private static let table = TextTable(
    header: ["SERVICE", "GROUP", "MODIFIED", "LABEL"],
    rows: [
      ["ci", "", "2026-11-21T14:21:01Z", "a label of some length"],
      ["default", "", "2026-11-20T14:21:01Z", ""],
    ])

  @Test func tableIsUncutWithoutTerminal() {
    #expect(
      Self.table.columns(within: nil).contains("2026-11-21T14:21:01Z  a label of some length"))
    #expect(Self.table.columns(within: 200) == Self.table.columns(within: nil))
  }

  @Test func narrowTableDropsEmptyColumnsTimesAndEnds() {
    #expect(
      Self.table.columns(within: 53) == """
        SERVICE  MODIFIED              LABEL
        ci       2026-11-21T14:21:01Z  a label of some length
        default  2026-11-20T14:21:01Z

        """)
    #expect(
      Self.table.columns(within: 36) == """
        SERVICE  MODIFIED    LABEL
        ci       \(DateText.day(ofMoment: "2026-11-21T14:21:01Z"))  a label of som…
        default  \(DateText.day(ofMoment: "2026-11-20T14:21:01Z"))

        """)
    for width in 18...60 {
      for line in Self.table.columns(within: width).split(separator: "\n") {
        #expect(line.count <= width, "\(width): \(line)")
      }
    }
  }

  @Test func pairsAreWrappedBelowTheirValues() {
    #expect(
      FactLines.text([("a", "one two three"), ("long", "x")], within: 16)
        == "a:    one two\n      three\nlong: x\n")
  }
}
