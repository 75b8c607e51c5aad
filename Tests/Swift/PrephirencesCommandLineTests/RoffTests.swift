import Testing

@testable import PrephirencesCommandLine

@Suite("The source of manual pages")
struct RoffTests {
  @Test(arguments: [
    ("plain", "plain"), ("a-b", "a\\-b"), (".dot", "\\&.dot"), ("'q", "\\(aqq"),
    ("\\t", "\\et"), ("…", "\\[u2026]"),
  ])
  func nothingInTextIsActedOn(text: String, source: String) {
    #expect(Roff.escaped(text) == source)
  }
}
