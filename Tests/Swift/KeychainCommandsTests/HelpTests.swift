import ArgumentParser
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("What help shows")
struct HelpTests {
  private struct Host: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "host", version: "1", subcommands: [KeychainCommand.self])
  }

  /// The longest name in examples.
  ///
  /// It is created once per process, and cannot be wrapped.
  private static let longName = StatusCommand.keychainPath

  /// All commands without subcommands, and the words that run them.
  private static let commands = leaves(KeychainCommand.self, ["keychain"])

  private static func leaves(
    _ command: any ParsableCommand.Type, _ words: [String]
  ) -> [(words: [String], type: any ParsableCommand.Type)] {
    let below = command.configuration.subcommands
    guard !below.isEmpty else { return [(words, command)] }
    return below.flatMap { leaves($0, words + [$0._commandName]) }
  }

  private static func help(_ words: [String]) -> String {
    let path = CommandPath(Host.self, words + ["--help"])
    return HelpText(Host.self, path, message: Host.helpMessage(for: path.command), terminal: nil)
      .text
  }

  @Test func everyUsageIsShortAndComplete() throws {
    let context = KeychainCommandContext(Host.self)
    try KeychainCommandContext.$current.withValue(context) {
      for (words, type) in Self.commands {
        let help = Self.help(words)
        let usage = try #require(help.split(separator: "\n\n").first { $0.hasPrefix("USAGE: ") })
        #expect(usage.split(separator: "\n").count <= 2, "\(words)")
        #expect(usage.count <= 160)
        let description = try CommandDescription.program(type)
        for argument in description.visibleArguments where argument.isPositional {
          let name = "<\(argument.valueName ?? "")>"
          #expect(usage.contains(argument.isOptional ? "[\(name)]" : " \(name)"), "\(words)")
        }
      }
    }
  }

  @Test func ownOptionsComeFirstAndHelpLast() throws {
    for (words, _) in Self.commands {
      let help = Self.help(words)
      let common = try #require(help.firstRange(of: "\nCOMMON OPTIONS:"), "\(words)")
      if let own = help.firstRange(of: "\nOPTIONS:\n") {
        let sections = ["\nWHICH STORE:", "\nWHICH CREDENTIAL:", "\nCOMMON OPTIONS:"]
        for section in sections.compactMap({ help.firstRange(of: $0) }) {
          #expect(own.upperBound < section.lowerBound, "\(words)")
        }
      }
      let last = try #require(help.firstRange(of: "-h, --help"))
      #expect(common.upperBound < last.lowerBound)
      #expect(help.hasSuffix("Show help information.\n"))
    }
  }

  @Test func orderingLosesNothing() {
    for (words, type) in Self.commands {
      let plain = Host.helpMessage(for: type, columns: 80)
      let lines = { (text: String) in
        text.split(separator: "\n").filter { $0.hasPrefix("  -") }.sorted()
      }
      #expect(lines(Self.help(words)) == lines(plain), "\(words)")
    }
  }

  @Test func narrowTerminalStillShowsOptionMeanings() {
    let path = CommandPath(Host.self, ["keychain", "list", "--help"])
    let help = HelpText(
      Host.self, path, message: Host.helpMessage(for: path.command), terminal: 20)
    #expect(help.text.contains("Print JSON"))
  }

  @Test func linesFitTheTerminal() {
    for (words, _) in Self.commands {
      for line in Self.help(words).split(separator: "\n") where !line.contains(Self.longName) {
        #expect(line.count <= 80, "\(line)")
      }
    }
  }
}
