import Foundation
import PrephirencesSystem
import Testing

@testable import PrephirencesCommandLine

@Suite("Lists, tables and JSON")
struct PresentationTests {
  @Test func columnsAreAligned() {
    let table = TextTable(
      header: ["A", "LONG", "B"], rows: [["xyz", "1", ""], ["x", "22", "end"]])
    #expect(table.columns(within: nil) == "A    LONG  B\nxyz  1\nx    22    end\n")
  }

  @Test func fieldsOfLinesCannotBeMistaken() {
    let table = TextTable(
      header: ["A", "B"], rows: [["tab\there", "line\nback\\slash"], ["", "x"]])
    #expect(table.lines == "tab\\there\tline\\nback\\\\slash\n\tx\n")
  }

  @Test(arguments: [
    ("plain é 日本", "plain é 日本"), ("\u{1B}[31mred", "\\u{1b}[31mred"),
    ("a\u{202E}b", "a\\u{202e}b"),
    ("\r\n", "\\u{d}\\n"), ("\u{85}", "\\u{85}"),
  ])
  func terminalIsNotCommanded(_ text: String, _ shown: String) {
    #expect(text.visible == shown)
  }

  @Test func onlyVisibleCharactersStay() throws {
    var (seen, hidden) = ("".unicodeScalars, "".unicodeScalars)
    for scalar in (UInt32(0)...0x10FFFF).lazy.compactMap(Unicode.Scalar.init) {
      if Self.isSeen(scalar) { seen.append(scalar) } else { hidden.append(scalar) }
    }
    #expect(String(seen).visible == String(seen))
    #expect(String(seen).visibleInJSON == String(seen))
    let escapes = String(hidden).visible
    #expect(escapes.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    #expect(escapes.hasPrefix("\\u{0}\\u{1}") && escapes.hasSuffix("\\u{10ffff}"))
    #expect(escapes.count { $0 == "\\" } == hidden.count)
    let inJSON = String(hidden.drop { $0.value < 0x7F }).visibleInJSON
    #expect(inJSON.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
  }

  private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned: false
    default: !scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  @Test(arguments: [
    ("\u{61C}", "\\u{61c}"), ("\u{200B}", "\\u{200b}"), ("\u{FEFF}", "\\u{feff}"),
    ("\u{AD}", "\\u{ad}"), ("\u{E0041}", "\\u{e0041}"), ("\u{2066}", "\\u{2066}"),
    ("\u{7F}", "\\u{7f}"), ("\u{9B}", "\\u{9b}"), ("a\u{200D}b", "a\\u{200d}b"),
    ("a\u{FE0F}", "a\\u{fe0f}"), ("1\u{FE0F}", "1\\u{fe0f}"), ("\u{3164}", "\\u{3164}"),
    ("❤\u{FE0F}\u{FE0F}", "❤\u{FE0F}\\u{fe0f}"), ("👩\u{200D}", "👩\\u{200d}"),
    ("🏴\u{E0067}\u{E007F}", "🏴\\u{e0067}\\u{e007f}"),
  ])
  func invisibleCharactersAreEscaped(_ text: String, _ shown: String) {
    #expect(text.visible == shown)
  }

  @Test(arguments: [
    "👩\u{200D}💻", "❤\u{FE0F}", "☎\u{FE0E}", "👩🏽\u{200D}❤\u{FE0F}\u{200D}👨🏻", "1\u{FE0F}\u{20E3}", "🇫🇷",
    "e\u{301}", "مرحبا", "हिन्दी", "日本", "narrow\u{202F}space", "\u{F8FF}",
  ])
  func visibleCharactersStay(_ text: String) {
    #expect(text.visible == text && text.visibleInJSON == text)
  }

  @Test(arguments: [
    (
      "Unknown option '-sx'\n   or: Missing value for '-s <name>' in '-sx'",
      "unknown option '-sx', or: missing value for '-s <name>' in '-sx'"
    ),
    ("Unknown option '--x'.", "unknown option '--x'"), ("KDF failed", "KDF failed"), ("", ""),
    (
      "Unknown option '--nam'. Did you mean '--name'?",
      "unknown option '--nam'; did you mean '--name'?"
    ),
  ])
  func messagesHaveNoCapitalAndNoFullStop(_ sentence: String, _ message: String) {
    #expect(Words.inOurStyle(sentence) == message)
  }

  @Test(arguments: [
    (Duration.zero, "0s"), (.seconds(45), "45s"), (.seconds(900), "15m"),
    (.seconds(5400), "1h 30m"),
    (.seconds(43_201), "12h 1s"),
  ])
  func timeIsShownInTwoUnits(_ duration: Duration, _ shown: String) {
    #expect(Words.time(duration) == shown)
  }
}

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
  func cutTextHasAnEllipsis(text: String, width: Int, cut: String) {
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

  @Test(arguments: [80, 40])
  func differentNamesLookDifferent(width: Int) {
    let names = (1...2).map { "deploy-production-server-\($0)" }
    let table = TextTable(
      header: ["SERVICE", "ACCOUNT", "ACCESSIBILITY", "MODIFIED"],
      rows: names.map {
        [
          "registry.example.com", $0, "afterFirstUnlockThisDeviceOnly", "2026-11-21T14:21:01Z",
        ]
      }, nameCount: 2)
    let lines = table.columns(within: width).split(separator: "\n").dropFirst()
    #expect(Set(lines).count == 2)
    #expect(lines.allSatisfy { $0.count <= width })
    // The names come before what else is known.
    if width == 80 {
      #expect(zip(lines, names).allSatisfy { $0.contains("registry.example.com  \($1)  afterFi") })
    }
  }

  @Test func namesThatDifferInsideAreLengthened() {
    let names = (1...2).map { "a-long-name-\($0)-that-has-a-long-end" }
    let shown = TextTable(header: ["NAME"], rows: names.map { [$0] }).columns(within: 12)
    #expect(Set(shown.split(separator: "\n")).count == 3)
  }

  @Test func pairsAreWrappedBelowTheirValues() {
    #expect(
      FactLines.text([("a", "one two three"), ("long", "x")], within: 16)
        == "a:    one two\n      three\nlong: x\n")
  }
}
