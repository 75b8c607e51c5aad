import ArgumentParser
import FoundationEssentials
import Glibc
import PrephirencesCommandLine
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

  private static let commands: [any QuickCommand.Type] = [
    GetCommand.self, SetCommand.self, GitCredentialCommand.self,
  ]

  private static let values = [
    "account": ["alice", "bob", "a b", "ü", ""], "rest": ["x"],
    "service": ["example.com", "s", ""],
    "port": ["443", "0", "65535", "65536", "+8"], "attribute": ["a=b", "a=-d", "a==", "a"],
    "deadline": ["30s", "500ms", "2m", "2"],
    "expected-version": ["1", "18446744073709551615", "x"],
    "expires": ["90d", "never", "2027-01-31", "2027-01-31T12:00:00Z", "soon"],
    "accessibility": ["whenUnlocked", "afterFirstUnlock", "never"],
    "store": ["vault", "secret-service", "auto", "x"], "newline": ["always", "never", "auto", "x"],
    "passphrase-fd": ["3", "0"], "operation": ["get", "store", "list", "x"],
    "recovery-code-fd": ["4"],
  ]

  // In debug, the parser takes a hundredth of a second for a line.
  @Test(arguments: 0..<9)
  func resultsEqualThoseOfTheParser(seed: UInt64) throws {
    let isThorough = getenv("PREPHIRENCES_THOROUGH").map { unsafe String(cString: $0) } == "1"
    let count = isThorough ? 500 : 70
    for (index, command) in Self.commands.enumerated() {
      let quickName = command.quickName
      let name = try #require(quickName)
      #expect(name == command._commandName && command.configuration.aliases.isEmpty)
      var lines = CommandLines(
        words: ["keychain", name], try ParserArgument.all(of: command), values: Self.values,
        RandomNumbers(seed: seed &* 1000 &+ UInt64(index)))
      var taken = 0
      for number in 0..<count {
        let alone = number % 20 == 0 ? nil : command
        if try takes(lines.next(), alone: alone) { taken += 1 }
      }
      #expect(taken > count / 20, "\(name)")
    }
  }

  @Test func groupsAndNamesAreUnique() {
    #expect(KeychainCommand.quickName == KeychainCommand._commandName)
    let names = KeychainCommand.configuration.subcommands
      .flatMap { [$0._commandName] + $0.configuration.aliases }
    #expect(Set(names).count == names.count)
  }

  /// Whether the quick path takes a line; fails if it makes something else of it than the parser,
  /// which reads the command without those above it if it is given: that is much faster.
  private func takes(
    _ line: [String], alone: (any ParsableCommand.Type)? = nil
  ) throws -> Bool {
    guard let quick = QuickPath.command(Host.self, line) else { return false }
    let parsed = try alone?.parseAsRoot(Array(line.dropFirst(2))) ?? Host.parseAsRoot(line)
    #expect(type(of: quick) == type(of: parsed), "\(line)")
    #expect(dumped(quick) == dumped(parsed), "\(line)")
    return true
  }

  /// A command with all of its values; the parser leaves out the titles that groups have in help.
  private func dumped(_ command: any ParsableCommand) -> String {
    var text = ""
    dump(command, to: &text)
    return text.split(separator: "\n").filter { !$0.contains("- title: ") }
      .joined(separator: "\n")
  }

  @Test(arguments: [
    "get alice", "get alice --service s --json --deadline 2m --attribute a=b --attribute c=-d",
    "get help", "get version", "get -q alice -s s", "set alice --label=--json --expires 90d",
    "set alice", "git-credential get", "git-credential --others store -g team",
  ])
  func usualLinesAreTaken(line: String) throws {
    let words = ["keychain"] + Self.words(line)
    #expect(try takes(words))
    let command = try #require(QuickPath.command(Host.self, words))
    #expect(!dumped(command).contains("definition"))
  }

  @Test(arguments: [
    "", "keychain", "keychain slots list", "keychain get", "keychain get --help",
    "keychain help get", "keychain get alice --version", "keychain get alice --unknown",
    "keychain get alice bob", "keychain get -- alice", "keychain list",
    "keychain get alice --service --json",
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
  func checksOfHostsRun(host: any ParsableCommand.Type) {
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

// MARK: - Lines

/// What the argument parser says of an argument of a command.
private struct ParserArgument {
  enum Kind {
    case flag, option, options, optionalArgument, argument, arguments
  }

  private struct Tool: Decodable {
    struct Command: Decodable {
      let arguments: [Argument]
    }

    let command: Command
  }

  private struct Argument: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String
    }

    let kind: String
    let names: [Name]?
    let valueName: String
    let isOptional: Bool
    let isRepeating: Bool
  }

  let kind: Kind
  let name: String
  let letter: String?

  /// Returns the arguments of a command, without help and version.
  static func all(of command: any ParsableCommand.Type) throws -> [ParserArgument] {
    let tool = try JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8))
    return tool.command.arguments.map { argument in
      guard let names = argument.names else {
        return ParserArgument(
          kind: argument.isRepeating
            ? .arguments : argument.isOptional ? .optionalArgument : .argument,
          name: argument.valueName, letter: nil)
      }
      return ParserArgument(
        kind: argument.kind == "flag" ? .flag : argument.isRepeating ? .options : .option,
        name: names.first { $0.kind == "long" }?.name ?? "",
        letter: names.first { $0.kind == "short" }?.name)
    }
    .filter { !["help", "version"].contains($0.name) }
  }
}

/// Command lines with the arguments of a command, most of which are valid.
private struct CommandLines {
  private let words: [String]
  private let definitions: [ParserArgument]
  private let values: [String: [String]]
  private var random: RandomNumbers

  init(
    words: [String], _ definitions: [ParserArgument], values: [String: [String]],
    _ random: RandomNumbers
  ) {
    self.words = words
    self.definitions = definitions
    self.values = values
    self.random = random
  }

  /// What is unusual on a command line, or in the place of a value.
  private static let oddities = [
    "", "-", "--", "---", "-x", "-1", "--json", "--quiet", "-q", "--help", "-h", "-help",
    "--version",
    "--help-hidden", "--unknown", "--service", "-s", "-sx", "-s=x", "-qy", "--quiet=1", "--label=",
    "--label==", "--label=-x", "--label=\u{301}", "-\u{301}", "\u{2010}x", "=", "a=b", "=b", "help",
    "version", "get", "keychain", "ü", "u\u{308}", "\u{212a}", "a b", "\n", "\r\n", "'", "\\", "+5",
    "007", "99999999999999999999", "nil", "--Service", "--serv", "-int", "-array", "--array",
    "---completion", "--generate-completion-script", "--experimental-dump-help",
    "\u{1f468}\u{200d}",
  ]

  /// Returns the next line.
  mutating func next() -> [String] {
    var line: [[String]] = []
    for definition in definitions {
      switch definition.kind {
      case .argument: if !random.isOne(in: 40) { line.append([value(of: definition)]) }
      case .optionalArgument: if !random.isOne(in: 3) { line.append([value(of: definition)]) }
      case .arguments:
        while random.isOne(in: 3) { line.append([value(of: definition)]) }
      case .flag: if random.isOne(in: 9) { line.append([name(of: definition)]) }
      case .option: if random.isOne(in: 9) { line.append(given(definition)) }
      case .options: while random.isOne(in: 4) { line.append(given(definition)) }
      }
    }
    if random.isOne(in: 3) { line.shuffle(using: &random) }
    var arguments = line.flatMap(\.self)
    if random.isOne(in: 5) { spoil(&arguments) }
    return words + arguments
  }

  private mutating func given(_ definition: ParserArgument) -> [String] {
    let value = value(of: definition)
    if random.isOne(in: 4) { return ["--\(definition.name)=\(value)"] }
    return [name(of: definition), value]
  }

  private mutating func name(of definition: ParserArgument) -> String {
    if let letter = definition.letter, Bool.random(using: &random) { return "-\(letter)" }
    return "--\(definition.name)"
  }

  private mutating func value(of definition: ParserArgument) -> String {
    if random.isOne(in: 40) { return oddity() }
    return (values[definition.name] ?? ["x", "name"]).randomElement(using: &random) ?? ""
  }

  private mutating func oddity() -> String {
    Self.oddities.randomElement(using: &random) ?? ""
  }

  /// Adds, repeats or removes an argument.
  private mutating func spoil(_ arguments: inout [String]) {
    let place = Int.random(in: 0...arguments.count, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0 where place < arguments.count: arguments.remove(at: place)
    case 1 where place < arguments.count: arguments.insert(arguments[place], at: place)
    default: arguments.insert(oddity(), at: place)
    }
  }
}

/// Numbers that are the same in every run (SplitMix64).
private struct RandomNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// Whether something happens that does so once in a number of times.
  mutating func isOne(in count: Int) -> Bool {
    Int.random(in: 0..<count, using: &self) == 0
  }
}
