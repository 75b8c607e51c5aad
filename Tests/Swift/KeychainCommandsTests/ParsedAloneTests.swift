import ArgumentParser
import Synchronization
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Commands parsed without their parents")
struct ParsedAloneTests {
  private struct HostThatCounts: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [KeychainCommand.self])
    static let checks = Mutex(0)
    func validate() { Self.checks.withLock { $0 += 1 } }
  }

  private static func words(_ line: String) -> [String] {
    line.split(separator: " ").map(String.init)
  }

  private static func dumped(_ command: any ParsableCommand) -> String {
    var text = ""
    dump(command, to: &text)
    return text
  }

  @Test(arguments: [
    "keychain get alice", "keychain get -- -alice", "keychain get help", "keychain get version",
    "keychain get alice --service s --json --deadline 2m --attribute a=b --attribute c=-d",
    "keychain set --service s --expires 90d --label=--json -- -a", "keychain rm alice",
    "keychain ls --all-groups", "keychain slots list --vault /v/vault", "keychain doctor",
    "keychain get alice --service --json", "keychain update alice --label x --no-prompt",
  ])
  func parsingAloneEqualsParsingByRoot(line: String) throws {
    let alone = try #require(CommandPath(Host.self, Self.words(line)).parsedAlone())
    let whole = try Host.parseAsRoot(Self.words(line))
    #expect(type(of: alone) == type(of: whole))
    #expect(Self.dumped(alone) == Self.dumped(whole))
  }

  @Test(arguments: [
    "", "keychain", "keychain slots", "keychain get", "keychain get --help", "keychain help get",
    "keychain get alice --version", "keychain get alice --unknown", "keychain get alice bob",
    "--version", "other", "keychain get alice --generate-completion-script bash",
    "keychain get alice --help-hidden", "keychain get alice --experimental-dump-help",
  ])
  func theRestIsLeftToTheRoot(line: String) {
    #expect(CommandPath(Host.self, Self.words(line)).parsedAlone() == nil)
  }

  @Test(arguments: [HostWithOption.self, HostThatChecks.self] as [any ParsableCommand.Type])
  func checksOfHostsRun(host: any ParsableCommand.Type) {
    #expect(CommandPath(host, ["keychain", "get", "alice"]).parsedAlone() == nil)
  }

  // A check may have effects that must not be repeated, such as setting up a log.
  @Test func aHostChecksALineOnce() {
    for (number, line) in ["get alice", "get", "get --help", "get a --no", "slots"].enumerated() {
      let path = CommandPath(HostThatCounts.self, Self.words("keychain \(line)"))
      if path.parsedAlone() == nil {
        _ = try? HostThatCounts.parseAsRoot(path.argumentsAskingForHelp)
      }
      #expect(HostThatCounts.checks.withLock(\.self) == number + 1, "\(line)")
    }
  }
}
