import KeychainCredentials
import Testing

@testable import KeychainHelpers

@Suite("Files of variables")
struct EnvironmentFileTests {
  private func values(_ text: String) throws -> [String] {
    try EnvironmentFile(text, name: ".env").entries.map { entry in
      switch entry.value {
      case .text(let text): "\(entry.name)=\(text)"
      case .reference(let reference): "\(entry.name)->\(reference)"
      }
    }
  }

  @Test(
    arguments: [
      ("A=x", ["A=x"]), ("export A=x\n", ["A=x"]), ("\n# note\n  A=x  \nB=\n", ["A=x", "B="]),
      ("A='a b # $c \\'\n", ["A=a b # $c \\"]), ("A=\"a b\" # note\n", ["A=a b"]),
      ("A='one\ntwo'\nB=2", ["A=one\ntwo", "B=2"]),
      ("A='http://h/?a=b&c=d'", ["A=http://h/?a=b&c=d"]), ("A=http://h/~a", ["A=http://h/~a"]),
      ("  # note\r\nA='~;<>|&()'", ["A=~;<>|&()"]), ("A=*?[]{}!@%^+", ["A=*?[]{}!@%^+"]),
      ("A=ü", ["A=ü"]), ("\tA='' \t# x", ["A="]), ("", []), ("#", []),
      ("A=keychain://s/a", ["A->keychain://s/a"]),
      ("A='keychain://s/a?field=username'", ["A->keychain://s/a?field=username"]),
    ] as [(String, [String])])
  func unambiguousLinesAreRead(text: String, expected: [String]) throws {
    #expect(try values(text) == expected)
  }

  // Measured: python-dotenv, node and a shell make different values of them.
  @Test(arguments: [
    "A=a#b", "A=x # c", "A=${B}", "A=$B", "A=\"cost$5\"", "A=\"a\\\"b\"", "A=\"x\\ny\"", "J = sp",
    "A =x", "A= x", "A=a b", "A=a'b'", "A='a'b", "A='a'#b", "A='a", "A=\"a\nb", "A", "=x", "1A=x",
    "A-B=x", "export", "exportA x=1", "A=`date`", "A='a\r\nb'", "A=a\\", "A=1\nA=2", "\u{feff}A=x",
    "A=a\0b", "A=x\r\n", "A='x'\r", "\r\n", "A=a<b", "A=a>b", "A=a|b", "A=a&b", "A=a;b", "A=(a)",
    "A=a)", "A=~/a", "A=/a:~b", "A=\"x\"\r\nB=1",
  ])
  func ambiguousLinesAreRefused(text: String) {
    let failure = #expect(throws: KeychainError.self) { try values(text) }
    #expect(failure?.code == .undecodable)
    #expect(failure?.message.contains("'.env', line ") == true)
  }

  /// Single quotes alone would give the program the text.
  @Test(arguments: ["A=\"${B}\"", "A=${B}", "A=$B", "A=\"`date`\"", "A=~/x", "A=/a:~b"])
  func variablesAreNotExpanded(text: String) {
    let failure = #expect(throws: KeychainError.self) { try values(text) }
    #expect(failure?.message.contains("line 1: nothing is expanded here") == true)
  }

  @Test func aCommentNeedsQuotesBefore() {
    let failure = #expect(throws: KeychainError.self) { try values("A=x # c") }
    #expect(failure?.message.contains("programs take '#' and what follows for a comment") == true)
  }

  @Test func aByteOrderMarkIsNamed() {
    let failure = #expect(throws: KeychainError.self) { try values("\u{FEFF}A=b\n") }
    #expect(failure?.message.contains("line 1: the file begins with a byte order mark") == true)
  }

  @Test func theLineIsNamed() {
    let failure = #expect(throws: KeychainError.self) {
      try values("A='1\n2'\n# note\nB=x\nC=a b\n")
    }
    #expect(failure?.message.contains("line 5:") == true)
  }

  @Test(arguments: [
    "PATH", "LD_PRELOAD", "LD_", "KEYCHAIN_VAULT", "KEYCHAIN_STORE", "KEYCHAIN_PASSPHRASE",
    "BASH_ENV",
    "GCONV_PATH", "GLIBC_TUNABLES", "CREDENTIALS_DIRECTORY", "DBUS_SESSION_BUS_ADDRESS",
  ])
  func aFileDoesNotChooseWhatIsExecuted(name: String) {
    let failure = #expect(throws: KeychainError.self) { try values("X=1\n\(name)=x") }
    #expect(failure?.code == .refused)
    #expect(failure?.message.contains("line 2: a file cannot set '\(name)'") == true)
  }

  @Test(arguments: ["path", "LDX", "MY_PATH", "KEYCHAINS", "PYTHONPATH"])
  func otherNamesAreSet(name: String) throws {
    #expect(try values("\(name)=x") == ["\(name)=x"])
  }

  @Test(arguments: [
    "postgres://u:keychain://s/a@h/db", "' keychain://s/a'", "Bearer:KEYCHAIN+https://example.com",
  ])
  func aReferenceWithinAValueIsRefused(value: String) {
    let failure = #expect(throws: KeychainError.self) { try values("X=1\nA=\(value)") }
    #expect(failure?.code == .undecodable)
    #expect(failure?.message.contains("line 2: a reference is the whole value") == true)
  }

  @Test func aReferenceMustBeOneAndIsNotShown() {
    let failure = #expect(throws: KeychainError.self) { try values("A=keychain:hunter2") }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message.contains("hunter2") == false)
    #expect(failure?.message.contains("line 1") == true)
  }
}
