import Foundation
import KeychainCredentials
import KeychainHelpers
import KeychainSecrets
import Testing

/// Writes the passwords of servers as a netrc file.
struct NetrcContentsTests {
  private let store = InMemoryCredentialStore()

  private func add(
    _ secret: String, server: String = "h.example", protocol name: String = "https",
    port: UInt16 = 0, path: String = "", account: String = "alice", expires: Date? = nil,
    group: String = "", attributes: CredentialAttributes = [:]
  ) throws {
    let password = InternetPassword(
      server: server, protocol: name, port: port, path: path, account: account)
    try store.set(
      Credential(
        CredentialIdentity(.internetPassword(password), accessGroup: group),
        expires: expires, attributes: attributes),
      secret: SecretBytes(copying: secret), mode: .addOrReplace)
  }

  private func contents(_ selections: String...) throws -> String? {
    try NetrcFile.contents(for: selections.map { try NetrcSelection($0) }, in: store).text
  }

  private func code(_ selections: String...) -> KeychainError.Code? {
    do {
      _ = try NetrcFile.contents(for: selections.map { try NetrcSelection($0) }, in: store)
      return nil
    } catch { return (error as? KeychainError)?.code }
  }

  @Test func eachHostGetsOneEntry() throws {
    try add("hunter2")
    try add("p w", server: "i.example", account: "token")
    #expect(
      try contents("H.example", "i.example") == """
        machine h.example
          login alice
          password hunter2
        machine i.example
          login token
          password "p w"

        """)
    #expect(try contents() == "")
  }

  @Test func usualProtocolGoesFirst() throws {
    try add("of any", protocol: "")
    #expect(try contents("h.example")?.contains("of any") == true)
    try add("of web")
    #expect(try contents("h.example")?.contains("of web") == true)
  }

  @Test(arguments: ["imap", "http", "ftp", "ftps"])
  func passwordOfAnotherProtocolIsNotTaken(name: String) throws {
    try add("hunter2", protocol: name)
    #expect(code("h.example") == .notFound)
  }

  @Test(arguments: [["client": "docker"], ["docker_cli": "1"]] as [CredentialAttributes])
  func loginOfDockerIsNotTaken(attributes: CredentialAttributes) throws {
    try add("hunter2", protocol: "", attributes: attributes)
    #expect(code("h.example") == .notFound)
  }

  @Test func portIsTheUsualOneUnlessItIsNamed() throws {
    try add("of port", port: 8443)
    #expect(code("h.example") == .notFound)
    #expect(try contents("h.example:8443")?.contains("of port") == true)
    try add("usual", port: 443)
    #expect(try contents("h.example")?.contains("usual") == true)
  }

  @Test func capitalsOfTheHostMayBeStored() throws {
    try add("hunter2", server: "H.Example")
    #expect(try contents("H.Example")?.contains("machine h.example") == true)
  }

  @Test func adviceFitsWhatDiffers() throws {
    try add("a", path: "/a")
    try add("b", path: "/b")
    let paths = try #require(throws: KeychainError.self) { try contents("h.example") }
    #expect(!"\(paths)".contains("by its account"))
    try add("c", path: "/c", account: "bob")
    let accounts = try #require(throws: KeychainError.self) { try contents("h.example") }
    #expect("\(accounts)".contains("by its account: ACCOUNT@h.example"))
  }

  @Test(arguments: [
    ("h.example", "name h.example:PORT"), ("::1", "name [::1]:PORT"), ("[::1]", "name [::1]:PORT"),
    ("h.example:8443", "this server, port 8443, with the protocol https"),
  ])
  func adviceNamesAPortOnlyIfNoneWasNamed(selection: String, words: String) throws {
    let failure = try #require(throws: KeychainError.self) { try contents(selection) }
    #expect("\(failure)".contains(words) && "\(failure)".contains("PORT") == words.contains("PORT"))
  }

  @Test func adviceKeepsThePort() throws {
    try add("a", server: "::1", port: 8443)
    try add("b", server: "::1", port: 8443, account: "bob")
    let failure = try #require(throws: KeychainError.self) { try contents("[::1]:8443") }
    #expect("\(failure)".contains("by its account: ACCOUNT@[::1]:8443"))
  }

  @Test func passwordOfTheWholeHostGoesBeforeThatOfAPath() throws {
    try add("of port", port: 8443)
    try add("of path", path: "/a")
    #expect(try contents("h.example")?.contains("of path") == true)
    try add("of host")
    #expect(try contents("h.example")?.contains("of host") == true)
    #expect(try contents("h.example:8443")?.contains("of port") == true)
    #expect(try contents("h.example:443")?.contains("of host") == true)
    #expect(code("h.example:8444") == .notFound)
  }

  @Test func severalAccountsAreAmbiguousUntilOneIsNamed() throws {
    try add("one")
    try add("two", account: "bob@home")
    #expect(code("h.example") == .ambiguous)
    #expect(try contents("bob@home@h.example")?.contains("password two") == true)
    #expect(code("carol@h.example") == .notFound)
  }

  @Test func hostsAndGroupsAreOthers() throws {
    try add("hunter2", group: "team")
    try add("hunter2", server: "sub.h.example")
    #expect(code("h.example") == .notFound)
    let selection = try NetrcSelection("h.example")
    #expect(
      try NetrcFile.contents(for: [selection], in: store, accessGroup: "team").text != nil)
  }

  @Test func addressesMayBeStoredInBrackets() throws {
    try add("hunter2", server: "[::1]", port: 8080)
    #expect(try contents("[::1]:8080")?.hasPrefix("machine ::1\n") == true)
    #expect(code("::1") == .notFound)
  }

  @Test func expiredPasswordIsNotWritten() throws {
    try add("hunter2", expires: .now - 60)
    #expect(code("h.example") == .expired)
  }

  @Test func hostIsSelectedOnce() throws {
    try add("hunter2")
    #expect(code("h.example", "alice@h.example") == .invalidArgument)
  }

  @Test(arguments: [
    "", "a\"b", "a\\b", "a\nb", "a\rb", "a\u{0}b", "a\tb", "a\u{85}b", "a\u{2028}b", "a\u{A0}b",
    String(repeating: "x", count: 4001),
  ])
  func valuesThatProgramsReadDifferentlyAreRefused(secret: String) throws {
    try add(secret)
    let error = try #require(throws: KeychainError.self) { try contents("h.example") }
    #expect(error.code == .refused)
    #expect(error.message.contains("'h.example'"))
    #expect(secret.isEmpty || !error.description.contains(secret))
  }

  @Test func bytesThatAreNoTextAreRefused() throws {
    let identity = CredentialIdentity(
      .internetPassword(InternetPassword(server: "h.example", account: "a")))
    let bytes: [UInt8] = [0x61, 0xFF]
    try store.set(
      Credential(identity), secret: SecretBytes(copying: bytes.span.bytes), mode: .addOnly)
    #expect(code("h.example") == .refused)
  }

  @Test func accountIsNeeded() throws {
    try add("hunter2", account: "")
    #expect(code("h.example") == .refused)
  }

  @Test(arguments: ["#1", "a b", " ", "pässwörd", "machine", "a#b", "'", "$x`"])
  func writtenValuesAreReadAgain(secret: String) throws {
    try add(secret, account: secret)
    let text = try NetrcFile.contents(for: [NetrcSelection("h.example")], in: store)
    let file = try NetrcFile(text)
    #expect(file.entries.map(\.login) == [secret])
    #expect(try file.password(of: file.entries[0])?.text == secret)
  }

  @Test func lockedStoreIsUnlockedOnce() throws {
    try add("hunter2")
    store.lock()
    var unlocked = 0
    let text = try NetrcFile.contents(for: [NetrcSelection("h.example")], in: store) { _ in
      unlocked += 1
      store.unlock()
    }
    #expect(unlocked == 1 && text.count > 0)
    store.lock()
    #expect(code("h.example") == .locked)
  }

  @Test(arguments: [
    "", "@h", "https://h", "h/p", "h:", "h:0", "h:65536", "h:+1", "a b", "h\"", "h#", "[::1",
    "[::1]x",
    "hé", "h:1:2:]",
  ])
  func selectionsThatNameNoHostAreRefused(text: String) {
    #expect(throws: KeychainError.self) { try NetrcSelection(text) }
  }

  @Test(arguments: [
    "alice:hunter2@h", "alice:hunter2@h:1", "https://alice:hunter2@h", "//alice:hunter2@h",
    "alice:hunter2", "hunter2/@h", "hunter2%@h", "hunter2%ZZ@h", "hunter2@h/p",
  ])
  func passwordInASelectionIsRefusedAndNotRepeated(text: String) throws {
    let error = try #require(throws: KeychainError.self) { try NetrcSelection(text) }
    #expect(error.code == .invalidArgument)
    #expect(!"\(error)".contains("hunter2") && !error.message.contains("alice"))
  }

  @Test func accountsArePercentDecoded() throws {
    let selection = try NetrcSelection("a%3Ab%2Fc%25@h")
    #expect(selection.account == "a:b/c%" && selection.description == "a%3Ab%2Fc%25@h")
  }

  @Test(
    arguments: [
      ("h", "h", nil, nil), ("A@B@H.Example:80", "h.example", "A@B", 80),
      ("[::1]:80", "::1", nil, 80),
      ("FE80::1%eth0", "fe80::1%eth0", nil, nil),
    ] as [(String, String, String?, UInt16?)])
  func selectionsHaveTheirParts(text: String, host: String, account: String?, port: UInt16?) throws
  {
    let selection = try NetrcSelection(text)
    #expect(selection.host == host && selection.account == account && selection.port == port)
    #expect(try NetrcSelection(selection.description) == selection)
  }
}
