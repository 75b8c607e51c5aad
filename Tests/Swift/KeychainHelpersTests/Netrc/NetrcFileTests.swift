import KeychainCredentials
import KeychainHelpers
import KeychainSecrets
import Testing

/// Reads netrc files as curl, Python and SwiftPM do.
struct NetrcFileTests {
  @Test func entriesHaveTheirValues() throws {
    let file = try NetrcFile(
      SecretBytes(
        copying: """
          # a comment
          machine a.example login alice password "p w#1" # another
          machine b.example
          \tUser bob passwd #2 account acct
          default login anonymous password x
          """))
    #expect(file.entries.map(\.host) == ["a.example", "b.example", "default"])
    #expect(file.entries.map(\.login) == ["alice", "bob", "anonymous"])
    #expect(try file.passwords == ["p w#1", "#2", "x"])
    #expect(file.entries.map(\.hasAccount) == [false, true, false])
    #expect(file.entries.map(\.line) == [2, 3, 5])
  }

  @Test func quotedValuesHaveEscapes() throws {
    let file = try NetrcFile(
      SecretBytes(
        copying: #"machine h login "a \"b\"" password "c\\d" machine i login x password a\b"c"#))
    #expect(file.entries.map(\.login) == [#"a "b""#, "x"])
    #expect(try file.passwords == [#"c\d"#, #"a\b"c"#])
  }

  @Test func macrosEndWithAnEmptyLine() throws {
    let file = try NetrcFile(
      SecretBytes(
        copying: "machine a login l password p\nmacdef init\nmachine x\n\nmachine b login m\n"))
    #expect(file.entries.map(\.host) == ["a", "macro", "b"])
    #expect(file.entries.map(\.hasPassword) == [true, false, false])
  }

  @Test(arguments: [
    ("login l", 1), ("\n\nhunter2", 3), ("machine", 1), ("machine h login", 1),
    ("machine h password \"a", 1), ("machine h\nlogin \"a\nb\"", 2), ("machine h login \"a\"b", 1),
    ("macdef m\n\npassword p", 3), ("macdef m\n\nhunter2", 3), ("machine h login \u{0}", 1),
  ])
  func unreadableTextsNameTheLineAndNoWord(text: String, line: Int) throws {
    let error = try #require(throws: KeychainError.self) {
      _ = try NetrcFile(SecretBytes(copying: text))
    }
    #expect(error.code == .undecodable)
    #expect(error.message.hasPrefix("line \(line) of the netrc file "))
    #expect(!error.description.contains("hunter2"))
  }

  @Test func emptyTextHasNoEntries() throws {
    #expect(try NetrcFile(SecretBytes(copying: "")).entries.isEmpty)
    #expect(try NetrcFile(SecretBytes(copying: " \n# c")).entries.isEmpty)
  }

  @Test(arguments: [
    ("machine a login l password p\n", ""),
    ("# top\nmachine a login l password p\n\nmachine b\n", "# top\n\nmachine b\n"),
    (
      "machine a\n  login l # mine\n  # why\n  password p\r\nmachine b\n",
      "# mine\n  # why\nmachine b\n"
    ),
    ("machine b login x machine a login l password p\n", "machine b login x \n"),
    ("machine a login l password p machine b login x", "machine b login x"),
    ("\tmachine a login l password p # note", "\t# note"),
    ("machine b\nmachine a login l password \"p q\"", "machine b\n"),
  ])
  func removingKeepsEveryOtherByte(text: String, rest: String) throws {
    let file = try NetrcFile(SecretBytes(copying: text))
    let removed = file.entries.filter { $0.host == "a" }
    #expect(try file.text(without: removed).text == rest)
    #expect(try file.text(without: []).text == text)
  }

  @Test func severalEntriesAreRemovedAtOnce() throws {
    let text = "machine a login l password p\nmachine b login l password p\nmachine c login l\n"
    let file = try NetrcFile(SecretBytes(copying: text))
    #expect(try file.text(without: file.entries.reversed()).text == "")
    #expect(
      try file.text(without: [file.entries[2], file.entries[0]]).text
        == "machine b login l password p\n")
  }
}

extension NetrcEntry {
  /// The host, or what there is in its place.
  var host: String {
    switch subject {
    case .machine(let host): host
    case .default: "default"
    case .macro: "macro"
    }
  }
}

extension NetrcFile {
  fileprivate var passwords: [String?] {
    get throws {
      var passwords: [String?] = []
      for entry in entries { passwords.append(try password(of: entry)?.text) }
      return passwords
    }
  }
}
