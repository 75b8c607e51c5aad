import Testing

@testable import PrephirencesCommandLine

@Suite("Names that patterns select")
struct NamePatternTests {
  @Test(arguments: [
    ("", ""), ("a", "a"), ("*", ""), ("*", "anything/at.all"), ("a*", "a"), ("*b", "ab"),
    ("a*c*e", "abcde"), ("*a*", "xax"), ("**", "x"), ("?", "é"), ("??", "e\u{301}"), ("a?c", "a/c"),
    ("[abc]", "b"), ("[a-c]x", "cx"), ("[!a-c]", "d"), ("[^a-c]", "d"), ("[]]", "]"), ("[!]]", "a"),
    ("[a-]", "-"), ("[-a]", "-"), ("[\\]]", "]"), ("[a\\-c]", "-"), ("\\*", "*"), ("\\[a]", "[a]"),
    ("[a", "[a"), ("a\\", "a\\"), (".*", ".hidden"), ("*.*", "a.b.c"), ("*ab", "aab"),
    ("[😀-😂]", "😁"),
  ])
  func matches(_ pattern: String, _ name: String) {
    #expect(NamePattern(pattern).matches(name))
  }

  @Test(arguments: [
    ("", "a"), ("a", ""), ("a", "A"), ("a", "ab"), ("?", ""), ("?", "ab"), ("a*c", "abcd"),
    ("*b", "ba"), ("[a-c]", "d"), ("[!a-c]", "b"), ("[!a]", ""), ("[c-a]", "b"), ("\\*", "a"),
    ("[a", "a"), ("é", "e\u{301}"),
  ])
  func doesNotMatch(_ pattern: String, _ name: String) {
    #expect(!NamePattern(pattern).matches(name))
  }

  @Test(.timeLimit(.minutes(1)))
  func hostilePatternsEnd() {
    let name = String(repeating: "a", count: 5000)
    #expect(!NamePattern(String(repeating: "*a", count: 200) + "b").matches(name))
  }
}
