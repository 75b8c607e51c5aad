internal import ArgumentParser
internal import FoundationEssentials

/// A command's definition, read from the argument parser's dump of help.
struct CommandDescription: Decodable {
  struct Argument: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String

      /// The name on the command line.
      var typed: String { (kind == "long" ? "--" : "-") + name }
    }

    let kind: String
    let shouldDisplay: Bool
    let isOptional: Bool
    let isRepeating: Bool
    let names: [Name]?
    let valueName: String?
    let sectionTitle: String?
    let abstract: String?
    let discussion: String?

    var isPositional: Bool { kind == "positional" }
  }

  let commandName: String
  let superCommands: [String]?
  let aliases: [String]?
  let shouldDisplay: Bool
  let abstract: String?
  let discussion: String?
  let subcommands: [CommandDescription]?
  let arguments: [Argument]?

  /// The words that run the command.
  var words: [String] { (superCommands ?? []) + [commandName] }

  /// The visible subcommands, without the parser's own `help`.
  var visibleSubcommands: [CommandDescription] {
    (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
  }

  var visibleArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }

  /// The command and all its subcommands.
  var all: [CommandDescription] { [self] + visibleSubcommands.flatMap(\.all) }

  /// Describes a program from its root command.
  static func program(_ root: any ParsableCommand.Type) throws(CommandLineError) -> Self {
    struct Program: Decodable { let command: CommandDescription }
    do {
      return try JSONDecoder().decode(Program.self, from: Data(root._dumpHelp().utf8)).command
    } catch {
      throw CommandLineError(
        ExitCodes.internalFailure, "the commands cannot be described: \(error)")
    }
  }
}
