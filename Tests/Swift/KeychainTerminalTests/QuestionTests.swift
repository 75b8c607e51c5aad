import KeychainStores
import Testing

@Suite("Questions within the width of a terminal")
struct QuestionTests {
  @Test(arguments: [
    ("keep it? [y/N] ", 20, "keep it? [y/N] "), ("keep it? [y/N] ", 19, "keep it? [y/N] "),
    ("keep it? [y/N] ", 18, "keep it?\n  [y/N] "),
    ("wrong it is\npassphrase: ", 8, "wrong it\nis\npassphrase: "),
    ("prefs: passphrase of /a/b/c: ", 29, "prefs: passphrase of\n  /a/b/c: "), ("", 9, ""),
  ])
  func aQuestionLeavesRoomForItsAnswer(text: String, width: Int, lines: String) {
    #expect(text.asQuestion(within: width) == lines)
  }
}
