internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import PrephirencesSystem

/// The manual pages of a program, one for each command.
struct Manual {
  /// The program's option that writes them; it is used alone, like the parser's option for
  /// completions.
  static let option = "--generate-man-pages"

  let pages: [ManualPage]

  /// Describes the running program.
  init(_ root: any ParsableCommand.Type) throws(CommandLineError) {
    let program = try CommandDescription.program(root)
    pages = program.all.map {
      ManualPage(
        command: $0, program: program, version: root.configuration.version,
        common: Self.common(root, $0))
    }
  }

  /// Writes a file for each page, and replaces an existing one.
  func write(to folder: String) throws(CommandLineError) {
    if mkdir(folder, 0o755) != 0, errno != EEXIST {
      throw .cannotWrite(folder, errno: errno)
    }
    for page in pages { try Self.write(page.text, to: folder + "/" + page.fileName) }
  }

  /// Returns what the manual page of a command shares with those of its library.
  private static func common(
    _ root: any ParsableCommand.Type, _ command: CommandDescription
  ) -> CommonManual? {
    let path = CommandPath(root, Array(command.words.dropFirst()))
    return (path.command as? any DocumentedCommand.Type)?.manual
  }

  private static func write(_ text: String, to path: String) throws(CommandLineError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .cannotWrite(path, errno: errno) }
    let isWritten = writeAll(text, to: descriptor)
    let error = errno
    guard close(descriptor) == 0, isWritten else {
      throw .cannotWrite(path, errno: isWritten ? errno : error)
    }
  }
}

extension CommandLineError {
  static let manualWithoutFolder = CommandLineError(
    ExitCodes.usage, "\(Manual.option) takes the folder for the pages, and nothing else")
}

/// What the manual pages of a library's commands have in common.
package struct CommonManual {
  /// The words of the command whose page has the environment and the files, and to which the others
  /// refer; `nil` if each has them.
  package let mainPage: [String]?

  package let environment: [(name: String, meaning: String)]
  package let files: [(path: String, meaning: String)]
  package let exitCodes: [(code: Int32, meaning: String)]

  package init(
    mainPage: [String]?, environment: [(name: String, meaning: String)],
    files: [(path: String, meaning: String)], exitCodes: [(code: Int32, meaning: String)]
  ) {
    self.mainPage = mainPage
    self.environment = environment
    self.files = files
    self.exitCodes = exitCodes
  }
}

/// The parts of manual pages that are in no command's definition.
enum ManualText {
  /// The date of the last revision of this text; no page contains the date or place of its build.
  static let date = "2026-11-21"
  static let volume = "User Commands"
  static let also = "Also called"
}

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
