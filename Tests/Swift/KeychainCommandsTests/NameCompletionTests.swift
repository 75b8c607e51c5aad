// The names that are found for a line; the tests of shells show what these make of them.

import KeychainCredentials
import PrephirencesSystem
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Names that are offered for a command line")
struct NameCompletionTests {
  private let program: TestedProgram = {
    let program = TestedProgram()
    for words in [
      ["github"], ["deploy", "--service", "ci"],
      ["deeper", "--service", "ci", "--access-group", "team"],
      ["alice", "--server", "example.org"],
      ["bob", "--server", "git.example.com", "--protocol", "https", "--port", "8443"],
      ["my account", "--service", "a b", "-g", "team"],
    ] { program.run(["set"] + words, input: Array("x".utf8)) }
    return program
  }()

  @Test(
    arguments: [
      ("get ", ["github"]), ("get --service ci ", ["deploy"]),
      ("get dep", ["alice", "bob", "deploy", "github"]),
      ("get -s ci ", ["deploy"]), ("get --service=ci ", ["deploy"]),
      ("get -s ci -g team ", ["deeper"]), ("get -s ci --group team ", ["deeper"]),
      ("get -s ci --all-groups ", ["deeper", "deploy"]), ("get --server example.org ", ["alice"]),
      ("get --all-services ", ["alice", "bob", "deploy", "github"]), ("get -s missing ", []),
      // Behind the cursor, too.
      ("get | -s ci", ["deploy"]), ("get -- -s ci ", ["github"]),
    ])
  func accounts(line: String, names: [String]) {
    #expect(completions(line).accounts == names)
  }

  @Test(
    arguments: [
      ("list -s ", ["a b", "ci", "default"]), ("list -g team -s ", ["a b", "ci"]),
      ("list -g none -s ", []),
    ])
  func services(line: String, names: [String]) {
    #expect(completions(line).services == names)
  }

  @Test(arguments: [
    ("set --server ", ["example.org", "git.example.com"]), ("set -g team --server ", []),
  ])
  func servers(line: String, names: [String]) {
    #expect(completions(line).servers == names)
  }

  @Test(arguments: [
    ("list -g ", ["team"]), ("list -s ci -g ", ["team"]), ("list -s default -g ", []),
  ])
  func accessGroups(line: String, names: [String]) {
    #expect(completions(line).accessGroups == names)
  }

  @Test func references() {
    program.run("set", "line\nline", input: "x")
    #expect(
      completions("read k").references == [
        "keychain+://alice@example.org", "keychain+https://bob@git.example.com:8443",
        "keychain://a%20b/my%20account?group=team", "keychain://ci/deeper?group=team",
        "keychain://ci/deploy", "keychain://default/github",
      ])
  }

  @Test func hostOffersItsOwnService() {
    let ours = completions("get ", of: "ci")
    #expect(ours.accounts == ["deploy"])
    #expect(ours.references == ["keychain://ci/deeper?group=team", "keychain://ci/deploy"])
    #expect(completions("get --server example.org ", of: "ci").accounts == ["alice"])
  }

  @Test func nothingIsOfferedWithoutAVault() throws {
    let home = try VaultHome()
    for line in ["get ", "list -s ", "get --vault /nonexistent/v.db ", "slots remove "] {
      let names = NameCompletions(
        line: completions(line).line, context: KeychainCommandContext(hostName: "prefs"),
        environment: .init(home.program.environment))
      #expect(
        (names.accounts + names.services + names.servers + names.accessGroups + names.references
          + names.slotNumbers { _ in true }).isEmpty)
    }
    #expect(!home.exists(home.path("data")) && !home.exists(home.path("state")))
  }

  /// Returns the completions at the end of a line, or where it has a bar.
  private func completions(_ line: String, of service: String = "default") -> NameCompletions {
    var words = ["prefs", "keychain"]
    words += line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let index = words.firstIndex(of: "|") ?? words.count - 1
    words[index] = words[index] == "|" ? "" : words[index]
    var context = KeychainCommandContext(hostName: "prefs", defaultService: service)
    context.store = program.store
    return NameCompletions(
      line: CompletionLine(words: words, index: index), context: context, environment: .init([:]))
  }
}
