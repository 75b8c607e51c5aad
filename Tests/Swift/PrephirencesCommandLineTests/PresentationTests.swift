import Foundation
import PrephirencesSystem
import Testing

@testable import PrephirencesCommandLine

@Suite("Lists, tables and JSON")
struct PresentationTests {
  @Test func columnsAreAligned() {
    let table = TextTable(
      header: ["A", "LONG", "B"], rows: [["xyz", "1", ""], ["x", "22", "end"]])
    #expect(table.columns == "A    LONG  B\nxyz  1\nx    22    end\n")
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

  @Test func ofAllCharactersThoseThatAreSeenStay() throws {
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
  func whatIsNotSeenIsAnEscape(_ text: String, _ shown: String) {
    #expect(text.visible == shown)
  }

  @Test(arguments: [
    "👩\u{200D}💻", "❤\u{FE0F}", "☎\u{FE0E}", "👩🏽\u{200D}❤\u{FE0F}\u{200D}👨🏻", "1\u{FE0F}\u{20E3}", "🇫🇷",
    "e\u{301}", "مرحبا", "हिन्दी", "日本", "narrow\u{202F}space", "\u{F8FF}",
  ])
  func whatIsSeenStays(_ text: String) {
    #expect(text.visible == text && text.visibleInJSON == text)
  }

  @Test func jsonSaysTheSameWithEscapes() throws {
    let text = "\u{1B}\u{7F}\u{9B}\u{202E}\u{61C}\u{E0041}\u{2028}\n\t\"\\👩\u{200D}💻"
    let json = try JSONText.text([text])
    #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)) == [text])
    #expect(json.contains("\\u007f\\u009b\\u202e\\u061c\\udb40\\udc41\\u2028"))
    #expect(json.hasPrefix("[\n") && json.hasSuffix("\n]\n"))
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
