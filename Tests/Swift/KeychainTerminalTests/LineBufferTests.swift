import KeychainSecrets
import Testing

@testable import KeychainStores

@Suite("Typing a line")
struct LineBufferTests {
  @Test(arguments: [
    ("secret\n", "secret"), ("secret\r", "secret"), ("\n", ""), ("ab\u{7F}c\n", "ac"),
    ("ab\u{8}\u{8}\u{8}x\n", "x"), ("wrong\u{15}right\n", "right"), ("aé\u{7F}\n", "a"),
    ("a👍🏽\u{7F}\u{7F}b\n", "ab"), ("日本\u{7F}\n", "日"), ("a\u{4}b\n", "ab"),
    ("one two\u{17}\u{17}three\n", "three"), ("one two  \u{17}three\n", "one three"),
  ])
  func keysEditTheLine(_ typed: String, _ expected: String) throws {
    var line = LineBuffer(try SecretBuffer(), editsLine: true)
    var bytes = Array(typed.utf8)[...]
    while let byte = bytes.popFirst(), try line.takes(byte) {}
    #expect(bytes.isEmpty)
    let result = try line.finish()
    #expect(result.isEqual(to: try SecretBytes(copying: expected)))
  }

  @Test(arguments: ["\u{3}", "ab\u{3}", "\u{4}", "a\u{7F}\u{4}"])
  func personCancels(_ typed: String) {
    #expect(throws: TerminalSession.End.self) {
      var line = LineBuffer(try SecretBuffer(), editsLine: true)
      for byte in typed.utf8 { _ = try line.takes(byte) }
    }
  }

  @Test(arguments: ["\u{0}", "a\u{1}", "tab\there", "\u{1B}[D"])
  func invisibleKeysAreRefused(_ typed: String) throws {
    #expect(throws: TerminalSession.End.self) {
      var line = LineBuffer(try SecretBuffer(), editsLine: true)
      for byte in typed.utf8 { _ = try line.takes(byte) }
    }
    var line = LineBuffer(try SecretBuffer(), editsLine: false)
    for byte in typed.utf8 { #expect(try line.takes(byte)) }
  }
}
