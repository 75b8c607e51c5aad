import ArgumentParser
import PrephirencesCommandLine
import QuickPathTesting
import Synchronization
import Testing

@testable import KeychainCommands

@Suite("Commands read without the argument parser")
struct QuickPathTests {
  private struct HostThatCounts: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [KeychainCommand.self])
    static let checks = Mutex(0)
    func validate() { Self.checks.withLock { $0 += 1 } }
  }

  private struct HostWithOwnKeychain: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [
      OwnKeychain.self, KeychainCommand.self,
    ])
  }

  private struct OwnKeychain: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "own", subcommands: [Other.self], aliases: ["keychain"])
  }

  static let commands: [any QuickCommand.Type] = [
    GetCommand.self, SetCommand.self, UpdateCommand.self, DeleteCommand.self, ShowCommand.self,
    ListCommand.self, ReadCommand.self, RenameCommand.self, DockerCredentialCommand.self,
    GitCredentialCommand.self, InjectCommand.self, RunCommand.self,
  ]

  private static let values = [
    "account": ["alice", "bob", "a b", "ü", ""], "new-account": ["carol"], "rest": ["x"],
    "reference": ["keychain://s/a", "keychain:///a?field=label&optional", "x", ""],
    "pattern": ["git*", "[a-z]?", "x", "["], "service": ["example.com", "s", ""],
    "port": ["443", "0", "65535", "65536", "+8"], "attribute": ["a=b", "a=-d", "a==", "a"],
    "remove-attribute": ["a", ""], "deadline": ["30s", "500ms", "2m", "2"],
    "expires": ["90d", "never", "2027-01-31", "2027-01-31T12:00:00Z", "soon"],
    "expiring-within": ["30d", "x"], "expected-version": ["1", "18446744073709551615", "x"],
    "accessibility": ["whenUnlocked", "afterFirstUnlock", "never"],
    "store": ["vault", "secret-service", "auto", "x"], "newline": ["always", "never", "auto", "x"],
    "env": ["A=keychain://s/a", "A"], "netrc": ["example.com"], "command": ["x", "--version"],
    "passphrase-fd": ["3", "0"], "operation": ["get", "store", "list", "x"],
    "recovery-code-fd": ["4"], "to-port": ["1"],
  ]

  @Test(arguments: 0..<14)
  func thousandsOfLinesAreWhatTheParserMakesOfThem(seed: Int) throws {
    let commands = Self.commands.flatMap { type in
      type.spellings.map { (words: ["keychain", $0], type: type) }
    }
    let count = QuickPathCheck.lineCount(1000)
    let taken = try QuickPathCheck.taken(
      of: count, commands, root: Host.self, values: Self.values, seed: UInt64(seed))
    #expect(taken > count / 5)
  }

  @Test func everyArgumentIsKnown() throws {
    for command in Self.commands {
      #expect(try command.quickDefinitions() == ParserDefinitions.of(command), "\(command)")
      #expect(
        command.spellings == [command._commandName] + command.configuration.aliases, "\(command)")
      #expect(!(command is any AsyncParsableCommand.Type), "\(command)")
    }
  }

  @Test(arguments: [
    ["get", "a"], ["set", "a"], ["update", "a", "--label", "x"], ["rm", "a"], ["show", "a"], ["ls"],
    ["mv", "a", "b"], ["docker-credential", "get"], ["run", "--", "x"],
    ["inject", "x"],
  ])
  func everyPropertyIsSet(line: [String]) throws {
    let command = try #require(QuickPath.command(Host.self, ["keychain"] + line))
    #expect(!QuickPathCheck.dumped(command).contains("definition"))
    #expect(try QuickPathCheck.takes(["keychain"] + line, of: Host.self))
  }

  @Test(arguments: [
    "get alice", "get alice --service s --json --deadline 2m --attribute a=b --attribute c=-d",
    "get help", "get version", "read keychain://s/a?optional --output x", "get -q alice -s s",
    "set alice --label=--json --expires 90d",
    "run -e A=keychain://s/a --allow s --env-file f -- get -q --help -- -e", "run --",
    "list --all-groups", "rename a b --to-service x", "delete a --if-exists --expected-version 3",
  ])
  func usualLinesAreTaken(line: String) throws {
    #expect(try QuickPathCheck.takes(["keychain"] + Self.words(line), of: Host.self))
  }

  @Test(arguments: [
    "", "keychain", "keychain slots list", "keychain get", "keychain get --help",
    "keychain help get", "keychain get alice --version", "keychain get alice --unknown",
    "keychain get alice bob", "keychain get -- alice", "keychain get alice --service --json",
    "keychain get alice --json --json", "keychain get alice -s a -s b", "keychain get alice -sx",
    "keychain get alice -s=x", "keychain get alice --json=1", "keychain get alice --port x",
    "keychain get alice --service a --server b", "keychain get alice --generate-completion-script",
    "keychain get alice --service", "--version", "other", "another", "keychain set alice secret",
    "---completion keychain get -- account 0 0 a", "--generate-man-pages x",
  ])
  func theRestIsLeftToTheParser(line: String) {
    #expect(QuickPath.command(Host.self, Self.words(line)) == nil)
  }

  @Test(
    arguments: [
      HostWithOption.self, HostThatChecks.self, HostWithOwnKeychain.self,
    ] as [any ParsableCommand.Type])
  func hostsThatHaveASayAreAsked(host: any ParsableCommand.Type) {
    #expect(QuickPath.command(host, ["keychain", "get", "alice"]) == nil)
  }

  // A check may have effects that must not be repeated, such as setting up a log.
  @Test func aHostChecksALineOnce() {
    #expect(QuickPath.command(HostThatCounts.self, ["keychain", "get"]) == nil)
    #expect(HostThatCounts.checks.withLock(\.self) == 0)
    #expect(QuickPath.command(HostThatCounts.self, ["keychain", "get", "alice"]) != nil)
    #expect(HostThatCounts.checks.withLock(\.self) == 1)
  }

  private static func words(_ line: String) -> [String] {
    line.split(separator: " ").map(String.init)
  }
}
