import ArgumentParser
import CPrephirencesSystem
import Testing

@testable import PrephirencesCommandLine

@Suite("A program's run")
struct InvocationTests {
  private struct SyncHost: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [Later.self])
  }

  private struct SyncGroup: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [GroupedLater.self])
  }

  private struct GroupedLater: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "later", subcommands: [Later.self])
  }

  private struct AsyncHost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [Later.self])
  }

  private struct Later: AsyncParsableCommand {
    func run() async throws {}
  }

  // Otherwise the parser would show help instead of running it, and report success.
  @Test func anAsynchronousCommandFailsBelowASynchronousRoot() async {
    func invocation(_ root: any ParsableCommand.Type) -> Invocation {
      Invocation(root: root, arguments: ["later"], host: CommandHost(root: root))
    }
    #expect(invocation(SyncHost.self).run() == ExitCodes.internalFailure)
    #expect(invocation(SyncGroup.self).run() == ExitCodes.usage)
    #expect(await invocation(AsyncHost.self).runAsync() == ExitCodes.success)
  }
}

@Suite("The commands that a line names")
struct CommandPathTests {
  private struct Root: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "root", subcommands: [Group.self, Leaf.self])
  }

  private struct Group: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "group", subcommands: [Inner.self], aliases: ["g"])
  }

  private struct Inner: ParsableCommand {
    @Flag var loud = false
    @Option var name: String?
    @Argument var word: String?
  }

  private struct Leaf: ParsableCommand {}

  private static func path(_ line: String) -> CommandPath {
    CommandPath(Root.self, line.split(separator: " ").map(String.init))
  }

  @Test(arguments: [
    ("", "root", ""), ("leaf", "leaf", "leaf"), ("group", "group", "group"),
    ("g inner x", "inner", "g inner"), ("group inner --loud inner", "inner", "group inner"),
    ("--version group", "root", ""), ("leaf group", "leaf", "leaf"), ("-- group", "root", ""),
  ])
  func wordsResolveWhileTheyNameCommands(line: String, command: String, words: String) {
    let path = Self.path(line)
    #expect(path.command._commandName == command)
    #expect(path.words.joined(separator: " ") == words)
  }

  @Test(arguments: [
    ("grup", "grup", "group"), ("group iner", "iner", "inner"), ("helpp", "helpp", "help"),
    ("group zzzzzz", "zzzzzz", nil), ("group --loud", nil, nil), ("group inner x", nil, nil),
  ])
  func unknownCommandWordIsNoticed(line: String, word: String?, meant: String?) {
    let path = Self.path(line)
    #expect(path.unknownWord == word)
    #expect(word.flatMap(path.nameResembling) == meant)
  }

  @Test(arguments: [
    ("group help inner", "group inner --help"), ("group help", "group --help"),
    ("help group", "help group"), ("leaf help", "leaf help"),
    ("group inner help", "group inner help"),
  ])
  func subcommandHelpWorksAsAtTheRoot(line: String, meaning: String) {
    #expect(Self.path(line).argumentsAskingForHelp.joined(separator: " ") == meaning)
  }

  @Test(arguments: [
    ("group inner -x", true), ("group inner --louder", true), ("group inner --loud", false),
    ("group inner --name=-x", false), ("group inner -- -x", false), ("group inner x", false),
  ])
  func textThatLooksLikeAnOptionIsNoticed(line: String, isUnknown: Bool) {
    #expect(Self.path(line).hasUnknownDash == isUnknown)
  }

  @Test(arguments: [
    ("inner", "root group inner"), ("iner", "root group inner"), ("grup", "group"), ("zzzzzz", nil),
  ])
  func aCommandFurtherBelowIsSuggested(word: String, meant: String?) {
    #expect(Self.path(word).commandsMeant(by: word) == (meant.map { [$0] } ?? []))
  }

  @Test(arguments: [
    ("group inner --names x", "--names", "--name"),
    ("group inner --loud=x --ame", "--ame", "--name"),
    ("group inner --name x", nil, nil), ("group inner -- --names", nil, nil),
    ("group inner --zzzzzz=x", "--zzzzzz", nil), ("group inner --hunter2", nil, nil),
  ])
  func anUnknownOptionIsNamed(line: String, option: String?, meant: String?) {
    let path = Self.path(line)
    #expect(path.unknownOption == option)
    #expect(option.flatMap(path.optionResembling) == meant)
  }

  @Test(arguments: [
    ("help zzz", "zzz"), ("help group zzz", "zzz"), ("group help zzz", "zzz"), ("help group", nil),
    ("help", nil), ("group inner help", nil), ("help leaf zzz", nil),
  ])
  func helpAboutNothingIsNoticed(line: String, word: String?) {
    #expect(Self.path(line).topic?.unknownWord == word)
  }
}

@Suite("Where a host mounts commands")
struct CommandWordsTests {
  private struct Host: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mytool", subcommands: [Other.self, Group.self])
  }

  private struct Group: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "settings", subcommands: [Mounted.self])
  }

  private struct Other: ParsableCommand {}

  private struct Mounted: PackageCommand {
    static let manual = CommonManual(mainPage: nil, environment: [], files: [], exitCodes: [])

    /// Has examples with the host's name, and must not be made before that is known.
    static var configuration: CommandConfiguration {
      Issue.record("the definition is looked at")
      return CommandConfiguration()
    }
  }

  @Test func wordsLeadToTheMountedCommand() {
    #expect(Host.words { $0 == Mounted.self } == ["mytool", "settings"])
    #expect(Group.words { $0 == Mounted.self } == ["settings"])
    #expect(Host.words { $0 == Host.self } == nil)
  }
}

@Suite("Failures of commands")
struct CommandFailureTests {
  private struct Lost: CommandFailure {
    let exitCode = ExitCodes.notFound
    let message = "it is lost"
    let hint: String? = "look again"
  }

  /// An error of a library that knows no commands.
  private struct Wrapped: Error {}

  private struct Unknown: Error {}

  private struct Leaf: PackageCommand {
    static let manual = CommonManual(mainPage: nil, environment: [], files: [], exitCodes: [])
  }

  private static let host = CommandHost(
    hostName: "mytool", failureBehind: { $0 is Wrapped ? Lost() : nil })

  @Test func eachErrorHasItsFailure() {
    #expect(Self.host.failure(of: Lost()) is Lost)
    #expect(Self.host.failure(of: Wrapped()) is Lost)
    #expect(Self.host.failure(of: CancellationError())?.exitCode == 130)
    #expect(Self.host.failure(of: Unknown()) == nil)
    #expect(Self.host.failure(of: ValidationError("no")) == nil)
  }

  // Otherwise the argument parser of a host would add a message.
  @Test func aFailureThrowsOnlyItsExitCode() {
    #expect(throws: ExitCode(44)) { try Leaf().reportFailures(as: "mytool") { throw Lost() } }
    #expect(throws: Unknown.self) { try Leaf().reportFailures(as: "mytool") { throw Unknown() } }
  }

  @Test func failureOfARunEndsWithItsCode() {
    struct Root: ParsableCommand {
      func run() throws { throw Lost() }
    }
    struct Behind: ParsableCommand {
      func run() throws { throw Wrapped() }
    }
    for root in [Root.self, Behind.self] as [any ParsableCommand.Type] {
      #expect(Invocation(root: root, arguments: [], host: Self.host).run() == 44)
    }
  }

  @Test func everyExitCodeIsExplainedOnce() {
    let codes = ExitCodes.all.map(\.code)
    #expect(codes == codes.sorted() && Set(codes).count == codes.count)
  }
}

@Suite("Lines that a shell wants completed")
struct CompletionLineTests {
  private static func line(_ words: [String], at index: Int) -> CompletionLine {
    CompletionLine(words: words, index: index)
  }

  private static let optionLines: [(line: String, index: Int, value: String?)] = [
    ("p|get|-s|ci|", 4, "ci"), ("p|get|--service=ci|", 3, "ci"),
    ("p|get||--service|ci", 2, "ci"), ("p|get|--service|", 3, nil),
    ("p|get|--|-s|ci|", 5, nil), ("p|get|-s|'a b'|", 4, "a b"),
    ("p|get|-s|a\\ \"b'c\"|", 4, "a b'c"), ("p|get||-s", 2, nil), ("p|get|-s|'$(x)'|", 4, "$(x)"),
  ]

  @Test(arguments: optionLines)
  func optionsAreReadAsTheProgramWill(line: String, index: Int, value: String?) {
    let words = line.split(separator: "|", omittingEmptySubsequences: false).map { String($0) }
    #expect(Self.line(words, at: index).value(of: "--service", "-s") == value)
  }

  @Test(arguments: [
    ("fit", true), ("two words", true), ("$(x)", true), ("", false), ("~x", false), ("-x", false),
    ("a\nb", false), ("a\u{1B}b", false), ("a\u{202E}b", false),
  ])
  func untypeableNameIsNotAccepted(name: String, isAccepted: Bool) {
    #expect(Self.line(["p", "get", ""], at: 2).accepts(name) == isAccepted)
  }

  @Test func nameMayBeginWithDashAfterTwoDashes() {
    #expect(Self.line(["p", "get", "--", ""], at: 3).accepts("-x"))
    #expect(!Self.line(["p", "get", "", "--"], at: 2).accepts("-x"))
  }

  @Test func aNameIsSpelledForEachShell() {
    #expect("a'b$(c)".forCompletion(in: .bash) == "'a'\\''b$(c)'")
    #expect("a:b\\c".forCompletion(in: .zsh) == "a\\:b\\\\c")
    #expect("a'b:c".forCompletion(in: .fish) == "a'b:c")
  }

  @Test func typedTextIsTheWordAtTheCursor() {
    #expect(Self.line(["p", "get", "'d e", "-s", "ci"], at: 2).prefix == "d e")
    #expect(Self.line([], at: 5).prefix == "")
  }
}

@Suite("The arguments of the program")
struct ProgramArgumentsTests {
  @Test func theyAreThoseOfTheProgram() {
    #expect(ccommandline_argument_count() == CommandLine.argc)
    #expect(ProgramArguments.process.texts == CommandLine.arguments)
    #expect(ccommandline_argument(-1) == nil)
    #expect(ccommandline_argument(CommandLine.argc) == nil)
  }

  /// An unreadable command line must not be treated as an empty one.
  @Test func missingCommandLineIsNotEmpty() throws {
    let error = try #require(throws: CommandLineError.self) {
      try ProgramArguments([[UInt8]]()).check()
    }
    #expect(error.exitCode == 70)
    #expect(error.message == "the arguments cannot be read; nothing was done")
  }
}
