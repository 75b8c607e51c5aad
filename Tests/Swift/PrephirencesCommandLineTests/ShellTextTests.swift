import Testing

@testable import PrephirencesCommandLine

@Suite("Words and examples for a shell")
struct ShellTextTests {
  @Test(arguments: [
    ("plain-1.2@x", "plain-1.2@x"), ("", "''"), ("two words", "'two words'"),
    ("it's", "'it'\\''s'"), ("$(x)", "'$(x)'"), ("~", "'~'"), ("é", "'é'"),
  ])
  func wordsAreQuotedForShells(_ word: String, _ quoted: String) {
    #expect(ShellText.quoted(word) == quoted)
  }

  @Test(arguments: [
    ("  a b c", "  a b c"),
    ("  prefs keychain get alice", "  prefs keychain \\\n    get alice"),
    ("  say 'one two three four five'", "  say \\\n    'one two three four five'"),
    (
      "  curl \"a $(prefs get alice bob)\" x",
      "  curl \"a $(prefs \\\n    get alice \\\n    bob)\" x"
    ),
    ("  averyveryverylongwordindeed x", "  averyveryverylongwordindeed \\\n    x"),
  ])
  func examplesAreBrokenWhereAShellTakesIt(line: String, broken: String) {
    #expect(line.exampleBroken(to: 20) == broken)
  }
}
