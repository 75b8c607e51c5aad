// What is said about command lines that are wrong, and help.
import CommandTesting
import Foundation
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Wrong usage and help")
struct WrongUsageTests {
  private let program = TestedProgram()

  /// Expects that nothing was stored.
  private func expectNoCredential() throws {
    #expect(try program.accounts("--all-groups").isEmpty)
  }

  @Test(arguments: [
    ("backup - --replace", "--replace needs a file"),
    ("set --group X name", "unknown option '--group'"),
    ("set --group X name", "did you mean '--access-group'?"),
    ("set a secret", "never taken from an argument"),
    ("help nosuch", "no command 'nosuch'"), ("add", "'prefs keychain slots add'"),
    ("add", "did you mean 'set' or 'prefs"), ("remove github", "did you mean 'delete'?"),
    ("set x -e 3d", "unknown option '-e'"), ("set x secret -s ci", "never taken from an argument"),
    ("unlock --timeout 30", "30s for seconds, or 30m for minutes"),
    ("get x --deadline 5", "5s for seconds"),
    ("update alice", "name what to change"),
    ("get alice --server example.org --service s", "--service"),
    ("get alice --jsn", "prefs keychain get --help"),
  ])
  func isNamed(line: String, text: String) throws {
    #expect(program.line(line, input: "x").failed(64, text))
    try expectNoCredential()
  }

  @Test(arguments: [
    ("gte alice", "there is no command 'gte'; did you mean 'get'?"),
    ("slots lst", "there is no command 'lst'; did you mean 'list'?"),
    ("frobnicate", "there is no command 'frobnicate'"),
  ])
  func mistypedCommandIsNamed(line: String, text: String) {
    let refused = program.line(line)
    #expect(refused.code == 64 && refused.bytes.isEmpty)
    #expect(
      refused.messages.hasPrefix("prefs: error: \(text)\n") && refused.hints.contains("--help'"))
  }

  @Test(arguments: ["", "slots", "recovery", "identity"])
  func unrequestedHelpIsNotSuccess(group: String) {
    let missing = program.line(group)
    #expect(missing.code == 64 && missing.bytes.isEmpty)
    let words = group.isEmpty ? "prefs keychain" : "prefs keychain \(group)"
    #expect(
      missing.messages == "prefs: error: name a command\nprefs: hint: see '\(words) --help'\n")
  }

  @Test(arguments: [
    ("get -x", true), ("set --alice", true), ("show -alice --json", true), ("get --json", false),
    ("delete --if-exists", false), ("get a --jsn", false),
  ])
  func accountWithADashGoesAfterTwo(line: String, isHinted: Bool) {
    let refused = program.line(line, input: "x")
    #expect(refused.failed(64))
    #expect(refused.hints.contains("begins with a dash goes after --") == isHinted)
  }

  @Test(arguments: [
    ("read -n keychain:///a", "--newline never"),
    ("read --no-newline keychain:///a", "--newline never"),
    ("inject -i in -o out", "inject TEMPLATE --output FILE"),
    ("inject --in-file=in", "inject TEMPLATE --output FILE"),
    ("list --format json", "--json prints JSON"),
    ("get a --format=json", "--json prints JSON"), ("run --command ls", "sh -c 'LINE'"),
    ("run --command=ls", "sh -c 'LINE'"), ("run -c ls", "sh -c"),
    ("set a --stdin", "standard input"),
  ])
  func optionOfAnotherToolHasAHint(line: String, hint: String) throws {
    let refused = program.line(line, input: "x")
    #expect(refused.failed(64) && refused.hints.contains(hint), "\(refused.messages)")
    try expectNoCredential()
  }

  /// It may be a passphrase, which a log would keep.
  @Test(
    arguments: ["unlock", "lock", "change-passphrase", "verify", "get a"],
    ["hunter2", "hunter2 hunter3"])
  func argumentTooManyIsNotRepeated(command: String, words: String) {
    let refused = program.line("\(command) \(words)")
    #expect(refused.failed(64, "an extra argument") && !refused.messages.contains("hunter"))
  }

  @Test(arguments: [
    [Array("set".utf8), [0xFF]],
    [Array("get".utf8), Array("a".utf8), Array("--service".utf8), Array("caf".utf8) + [0xE9]],
    [Array("set".utf8), Array("a".utf8), Array("--insecure-value".utf8), [0xC3, 0x28]],
  ])
  func argumentsThatAreNotTextAreRefused(words: [[UInt8]]) throws {
    let given = ["prefs", "keychain"].map { Array($0.utf8) } + words
    let console = RecordedConsole()
    var context = KeychainCommandContext(TestedRoot.self)
    context.store = program.store
    var invocation = KeychainCommandLine.invocation(
      TestedRoot.self, context, ProgramArguments(given))
    invocation.host.console = console.console
    let code = KeychainCommandContext.$current.withValue(context) { invocation.run() }
    #expect(CommandRun(code: code, console).failed(64, "not valid UTF-8"))
    try expectNoCredential()
  }

  // MARK: - On a terminal

  @Test(arguments: [40, 60, 75])
  func messagesBreakBetweenWords(columns: Int) {
    let line = "get alice --server example.org --service s"
    let piped = program.line(line)
    #expect(piped.messages.split(separator: "\n").count == 2)
    let shown = program.line(line, columns: columns)
    let lines = shown.messages.split(separator: "\n")
    #expect(shown.code == 64 && lines.allSatisfy { $0.count <= columns } && lines.count > 2)
    #expect(lines.count > 1 && lines[1].hasPrefix("  "))
    let words = { (text: String) in text.split { $0 == " " || $0 == "\n" } }
    #expect(words(shown.messages) == words(piped.messages))
  }

  // MARK: - Help

  @Test(arguments: ["--help", "set --help", "slots add --help", "get -h"])
  func helpGoesToStandardOutput(line: String) {
    let help = program.line(line)
    #expect(help.code == 0 && help.output.contains("USAGE") && help.messages.isEmpty)
  }

  @Test(arguments: [
    ("help get", "get --help"), ("help", "--help"), ("slots help add", "slots add --help"),
  ])
  func helpIsACommandToo(line: String, same: String) {
    let help = program.line(line)
    #expect(help.code == 0 && help.output == program.line(same).output && help.messages.isEmpty)
  }

  @Test(arguments: [(60, 60), (80, 80), (300, 100)])
  func helpFitsTheTerminalAndStaysReadable(columns: Int, longest: Int) {
    let lines = program.line("set --help", columns: columns).output.split(separator: "\n")
    // Examples are not wrapped.
    let widths = lines.filter { !$0.contains("keychain") }.map(\.count)
    #expect((widths.max() ?? 0) <= longest && (widths.max() ?? 0) > longest - 20)
    #expect(lines.contains("OPTIONS:") && lines.contains("WHICH STORE:"))
  }

  @Test func helpMayBeAnAccount() {
    #expect(program.line("get help").failed(44, "'help'"))
  }

  @Test(arguments: [
    ("update --help", "default: whenUnlocked"), ("list --help", "(default: default)"),
  ])
  func helpShowsOnlyTrueDefaults(line: String, text: String) {
    let help = program.line(line).output
    #expect(help.contains("USAGE") && !help.contains(text))
  }
}
