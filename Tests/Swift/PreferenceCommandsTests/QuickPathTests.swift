import ArgumentParser
import PrephirencesCommandLine
import QuickPathTesting
import Testing

@testable import PreferenceCommands

@Suite("Preference commands read without the argument parser")
struct QuickPathTests {
  private struct Host: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mytool", subcommands: PreferencesCommand.subcommands)
  }

  private struct HostWithGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mytool", subcommands: [PreferencesCommand.self])
  }

  private static let commands: [any QuickCommand.Type] = [
    ReadCommand.self, WriteCommand.self, DeleteCommand.self, PreferenceListCommand.self,
  ]

  private static let values = [
    "key": ["port", "server.name", "ü", ""], "keys": ["a", "b"], "value": ["8080", "x", "-", "ü"],
    "pattern": ["server.*", "[a-z]", "["], "domain": ["com.example.web", "x", "", "a/b", ".."],
    "store": ["etcd+https://a:2379/fleet", ""], "password-file": ["a"], "password-ref": ["b"],
    "type": ["int", "string", "json", "plist", "array", "x"], "default": ["1", ""],
    "expect": ["1", "[1]"],
  ]

  @Test(arguments: 0..<6)
  func thousandsOfLinesAreWhatTheParserMakesOfThem(seed: Int) throws {
    let root: any ParsableCommand.Type = seed % 2 == 0 ? Host.self : HostWithGroup.self
    let commands = Self.commands.flatMap { type in
      type.spellings.map { name in
        (words: seed % 2 == 0 ? [name] : ["preferences", name], type: type)
      }
    }
    try PreferenceCommandContext(hostName: "mytool", defaultDomain: seed < 4 ? "d" : nil).asCurrent
    {
      let count = QuickPathCheck.lineCount(1000)
      let taken = try QuickPathCheck.taken(
        of: count, commands, root: root, values: Self.values, seed: UInt64(seed))
      #expect(taken > count * (seed < 4 ? 15 : 2) / 100)
    }
  }

  @Test func everyArgumentIsKnown() throws {
    for command in Self.commands {
      #expect(try command.quickDefinitions() == ParserDefinitions.of(command), "\(command)")
      #expect(!(command is any AsyncParsableCommand.Type), "\(command)")
    }
  }

  @Test func everySpellingIsKnown() {
    let commands = PreferencesCommand.subcommands + SyncCommand.configuration.subcommands
    #expect(commands.count == 17)
    for command in commands.compactMap({ $0 as? any PackageCommand.Type }) {
      #expect(
        command.spellings == [command._commandName] + command.configuration.aliases, "\(command)")
    }
  }

  @Test(arguments: [
    ["read", "a", "-d", "x"], ["write", "a", "b", "-d", "x"], ["rm", "a", "-d", "x"], ["ls"],
  ])
  func everyPropertyIsSet(line: [String]) throws {
    let command = try #require(QuickPath.command(Host.self, line))
    #expect(!QuickPathCheck.dumped(command).contains("definition"))
    #expect(try QuickPathCheck.takes(line, of: Host.self))
  }

  // The parser's message would name the domain that is meant, for which it reads those there are.
  @Test(arguments: [["read", "a"], ["write", "a", "b"], ["delete", "a"]])
  func aMissingDomainIsLeftToTheParser(line: [String]) {
    #expect(QuickPath.command(Host.self, line) == nil)
  }

  @Test(arguments: [
    ["write", "a", "-int", "5", "-d", "x"], ["write", "a", "-d", "x", "-array", "b"],
    ["write", "a", "-5", "-d", "x"], ["read", "-d", "-x"],
  ])
  func theSpellingsOfOtherProgramsAreLeftToTheParser(line: [String]) {
    #expect(QuickPath.command(Host.self, line) == nil)
  }
}
