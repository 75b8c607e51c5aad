// What references name, and what is said if it is not there.
import CommandTesting
import Foundation
import KeychainCredentials
import Testing

@testable import KeychainCommands

@Suite("References to credentials")
struct ReadCommandTests {
  private static let web = "--server git.example.com --protocol https"
  private let program = TestedProgram()

  private func read(_ reference: String, _ options: String...) -> CommandRun {
    program.run(["read", reference] + options)
  }

  @Test(arguments: [
    ("keychain://a%2Fb/alice", "\u{0}hunter2\n"),
    ("KEYCHAIN://a%2Fb/alice?field=username", "alice"),
    ("keychain://a%2Fb/alice?encoding=base64", "AGh1bnRlcjIK"),
    ("keychain://a%2Fb/alice?field=label", "Mine"),
    ("keychain://a%2Fb/alice?field=attribute:stage", "live"),
    ("keychain://a%2Fb/alice?field=attribute:x&optional", ""), ("keychain:///api", "one"),
    ("keychain:///api?group=team", "two"), ("keychain://a%2Fb/alic?optional&field=label", ""),
  ])
  func fieldOfACredentialIsPrinted(reference: String, value: String) {
    _ = program.run(
      ["set", "alice", "--service", "a/b", "--label", "Mine", "--attribute", "stage=live"],
      input: Array("\u{0}hunter2\n".utf8))
    program.set("api", "one")
    program.set("api", "two", "--access-group", "team")
    let printed = read(reference)
    #expect(printed.code == 0 && printed.output == value && printed.messages.isEmpty)
  }

  @Test func binarySecretIsPrinted() {
    let secret: [UInt8] = [0, 255, 10]
    _ = program.run(["set", "alice"], input: secret)
    #expect(read("keychain:///alice").bytes == secret)
    #expect(read("keychain:///alice?encoding=base64").output == "AP8K")
  }

  @Test(arguments: [
    ("keychain:///alice?field=attribute:x", "has no attribute 'x'", ""),
    ("keychain:///alic", "'alic' of service 'default'", "alice"),
    ("keychain:///alice?group=other", "'alice' of service 'default'", ""),
  ])
  func absentFieldsAndCredentialsAreNamed(reference: String, message: String, hint: String) {
    program.set("alice")
    let absent = read(reference)
    #expect(absent.failed(44, message) && (hint.isEmpty || absent.hints.contains(hint)))
  }

  // MARK: - Servers

  private func addServers() {
    program.line("set alice \(Self.web)", input: "plain")
    program.line("set bob \(Self.web) --port 8443 --path a.git", input: "port")
  }

  @Test(arguments: [
    ("keychain+https://git.example.com", "plain"),
    ("keychain+https://GIT.example.com:443", "plain"),
    ("keychain+https://git.example.com:8443", "port"),
    (
      "keychain+https://bob@git.example.com:8443/a.git?field=url",
      "https://git.example.com:8443/a.git"
    ),
  ])
  func serverIsFoundByItsAddress(reference: String, value: String) {
    addServers()
    #expect(read(reference).output == value)
  }

  @Test(arguments: [
    "keychain+http://git.example.com", "keychain+https://git.example.com:1",
    "keychain+https://example.com",
    "keychain+https://eve@git.example.com", "keychain+https://git.example.com:8443/b.git",
  ])
  func otherAddressesMatchNothing(reference: String) {
    addServers()
    #expect(read(reference).failed(44, "no internet password matches '\(reference)'"))
    #expect(read("\(reference)?optional").isSilent)
  }

  @Test func severalOfAServerAreAmbiguous() {
    addServers()
    program.line("set carol \(Self.web)", input: "third")
    let ambiguous = read("keychain+https://git.example.com?optional")
    #expect(ambiguous.failed(76, "'alice'") && ambiguous.messages.contains("'carol'"))
    #expect(!ambiguous.messages.contains("plain") && !ambiguous.messages.contains("third"))
    #expect(read("keychain+https://carol@git.example.com").output == "third")
  }

  /// Stores compare bytes, and so does a lookup: in small letters, and as it is written.
  @Test(arguments: ["Git.Example.com", "small.example.com", "SMALL.example.com"])
  func hostIsFoundAsItWasStored(host: String) {
    for stored in ["Git.Example.com", "small.example.com"] {
      program.line("set alice --server \(stored) --protocol https", input: "secret")
    }
    #expect(read("keychain+https://\(host)").output == "secret")
  }

  @Test func itemWithoutAnAccountHasNoUsername() {
    _ = program.run(
      ["set", "", "--server", "git.example.com", "--protocol", "https"], input: Array("token".utf8))
    #expect(read("keychain+https://git.example.com").output == "token")
    #expect(read("keychain+https://git.example.com?field=username").failed(44, "has no account"))
    #expect(read("keychain+https://git.example.com?field=username&optional").isSilent)
  }

  // MARK: - What is refused

  @Test func expiredSecretIsPrintedOnRequest() {
    program.line("set alice --label L --expires 2020-01-01T00:00:00Z", input: "old")
    let refused = read("keychain:///alice?optional")
    #expect(refused.failed(80) && refused.hints.contains("--allow-expired"))
    #expect(read("keychain:///alice", "--allow-expired").output == "old")
    #expect(read("keychain:///alice?field=username").output == "alice")
  }

  @Test(arguments: [
    "keychain:///alice", "keychain:///alice?optional", "keychain+https://git.example.com",
    "keychain+https://alice@git.example.com",
    "keychain+https://git.example.com?optional&field=label",
  ])
  func lockedOneIsNotAbsent(reference: String) {
    let store = InMemoryCredentialStore()
    let program = TestedProgram(store: store)
    program.set("alice")
    program.set("open", "x", "--accessibility", "always")
    program.line("set alice \(Self.web)", input: "x")
    store.lock()
    #expect(program.run("read", reference).failed(77, "locked"))
    #expect(program.run("read", "keychain:///open").output == "x")
  }

  @Test(arguments: [
    "hunter2", "keychain://s/hunter2/x", "keychain://s/a?hunter2",
    "keychain+https://me:hunter2@host",
    "keychain://s/hunter2\n",
  ])
  func invalidReferenceIsNotRepeated(text: String) {
    let refused = read(text)
    #expect(refused.failed(64, "reference is invalid") && !refused.messages.contains("hunter2"))
  }

  @Test func newlineFollowsAsWithGet() {
    program.set("alice")
    #expect(read("keychain:///alice").output == "x")
    #expect(read("keychain:///alice", "--newline", "always").output == "x\n")
    #expect(program.run("read", "keychain:///alice", columns: 80).output == "x\n")
  }
}
