import ArgumentParser
import Testing

@testable import PrephirencesCommandLine

@Suite("Lines that a shell wants completed")
struct CompletionLineTests {
  private static func line(_ words: [String], at index: Int) -> CompletionLine {
    CompletionLine(words: words, index: index)
  }

  private static let optionLines: [(line: String, index: Int, value: String?)] = [
    ("p|get|-s|ci|", 4, "ci"), ("p|get|--service=ci|", 3, "ci"),
    ("p|get||--service|ci", 2, "ci"), ("p|get|--service|", 3, nil),
    ("p|get|--|-s|ci|", 5, nil), ("p|get|-s|'a b'|", 4, "a b"),
    ("p|get|-s|a\\ \"b'c\"|", 4, "a b'c"), ("p|get||-s", 2, nil), ("p|get|-s|'$(x)'|", 4, "$(x)"),
  ]

  @Test(arguments: optionLines)
  func optionsAreReadAsTheProgramWill(line: String, index: Int, value: String?) {
    let words = line.split(separator: "|", omittingEmptySubsequences: false).map { String($0) }
    #expect(Self.line(words, at: index).value(of: "--service", "-s") == value)
  }

  @Test(arguments: [
    ("fit", true), ("two words", true), ("$(x)", true), ("", false), ("~x", false), ("-x", false),
    ("a\nb", false), ("a\u{1B}b", false), ("a\u{202E}b", false),
  ])
  func whatCannotBeTypedIsNotAccepted(name: String, isAccepted: Bool) {
    #expect(Self.line(["p", "get", ""], at: 2).accepts(name) == isAccepted)
  }

  @Test func nameMayBeginWithDashAfterTwoDashes() {
    #expect(Self.line(["p", "get", "--", ""], at: 3).accepts("-x"))
    #expect(!Self.line(["p", "get", "", "--"], at: 2).accepts("-x"))
  }

  @Test func aNameIsSpelledForEachShell() {
    #expect("a'b$(c)".forCompletion(in: .bash) == "'a'\\''b$(c)'")
    #expect("a:b\\c".forCompletion(in: .zsh) == "a\\:b\\\\c")
    #expect("a'b:c".forCompletion(in: .fish) == "a'b:c")
  }

  @Test func typedTextIsTheWordAtTheCursor() {
    #expect(Self.line(["p", "get", "'d e", "-s", "ci"], at: 2).prefix == "d e")
    #expect(Self.line([], at: 5).prefix == "")
  }
}
