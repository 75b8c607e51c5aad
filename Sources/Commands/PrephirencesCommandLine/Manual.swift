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

  init(_ root: any ParsableCommand.Type) throws(CommandLineError) {
    let program = try CommandDescription.program(root)
    // Further lines list the program's parts.
    let version = String(root.configuration.version.prefix { $0 != "\n" })
    pages = program.all.map {
      ManualPage(
        command: $0, program: program, version: version, common: Self.common(root, $0))
    }
  }

  /// Writes a file for each page, and replaces existing ones.
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
  /// The command whose page has the environment and the files, to which other pages refer; `nil`
  /// if each page has them.
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

/// The parts of manual pages that no command defines.
enum ManualText {
  /// The date of the last revision of this text; pages contain neither the date nor the place of
  /// the build.
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

  var words: [String] { (superCommands ?? []) + [commandName] }

  /// The visible subcommands, without the parser's own `help`.
  var visibleSubcommands: [CommandDescription] {
    (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
  }

  var visibleArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }

  var all: [CommandDescription] { [self] + visibleSubcommands.flatMap(\.all) }

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

struct ManualPage {
  let command: CommandDescription
  let program: CommandDescription
  let version: String

  /// What the page shares with other commands' pages; `nil` for a command of the host.
  let common: CommonManual?

  var name: String { command.words.joined(separator: "-") }
  var fileName: String { name + ".1" }

  /// The source, which is the same for every run and on every machine.
  var text: String {
    var page = Roff()
    page.macro(
      "TH", Roff.escaped(name.uppercased()), "1", ManualText.date,
      Roff.escaped("\(program.commandName) \(version)"), isLong ? "" : ManualText.volume)
    page.macro("SH", "NAME")
    page.line(Roff.escaped(name) + " \\- " + Roff.escaped(abstract))
    page.macro("SH", "SYNOPSIS")
    for line in synopsis { page.line(line) }
    describe(&page)
    list(&page)
    if let common { add(common, &page) }
    page.macro("SH", "SEE ALSO")
    page.line(related.map { Roff.bold($0) + "(1)" }.joined(separator: ",\n"))
    return page.text
  }

  /// Whether the name, which appears at both ends of the first line, leaves no space between them
  /// in 78 columns.
  private var isLong: Bool { 2 * "\(name)(1) ".count + ManualText.volume.count > 78 }

  private var abstract: String { command.abstract ?? "part of \(program.commandName)" }

  private var synopsis: [String] {
    var words = [Roff.bold(command.words.joined(separator: " "))]
    if command.visibleArguments.contains(where: { !$0.isPositional }) {
      words.append("[\(Roff.italic("options"))]")
    }
    if !command.visibleSubcommands.isEmpty { words.append(Roff.italic("command")) }
    for argument in command.visibleArguments where argument.isPositional {
      let name = Roff.italic(argument.valueName ?? "value") + (argument.isRepeating ? " ..." : "")
      words.append(argument.isOptional ? "[\(name)]" : name)
    }
    let aliases = (command.aliases ?? []).map {
      Roff.bold((command.words.dropLast() + [$0]).joined(separator: " "))
    }
    let more =
      aliases.isEmpty
      ? [] : [".PP", "\(ManualText.also) " + aliases.joined(separator: ", ")]
    return [words.joined(separator: " ")] + more
  }

  /// Adds the paragraphs of the discussion; from "Example:" on, they stay unchanged.
  private func describe(_ page: inout Roff) {
    let paragraphs = (command.discussion ?? "").split(separator: "\n\n")
    let text = paragraphs.prefix { !$0.hasPrefix("Example:") }
    let examples = paragraphs.dropFirst(text.count)
    page.macro("SH", "DESCRIPTION")
    page.line(Roff.escaped(abstract) + ".")
    for paragraph in text {
      page.line(".PP")
      for line in paragraph.split(separator: "\n") { page.line(Roff.escaped(line)) }
    }
    guard !examples.isEmpty else { return }
    page.macro("SH", "EXAMPLES")
    let lines: [Substring] = examples.flatMap { [""] + $0.split(separator: "\n") }
    page.example(lines.dropFirst(2).map { $0.dropFirst($0.hasPrefix("  ") ? 2 : 0) })
  }

  /// Adds arguments, then options by title, then commands.
  private func list(_ page: inout Roff) {
    let positional = command.visibleArguments.filter(\.isPositional)
    add(positional, "ARGUMENTS", &page)
    let named = command.visibleArguments.filter { !$0.isPositional }
    // The command's own options come before the shared ones, which have titles.
    var options =
      (named.filter { $0.sectionTitle == nil } + named.filter { $0.sectionTitle != nil })[...]
    while let first = options.first {
      let group = options.filter { $0.sectionTitle == first.sectionTitle }
      add(group, (first.sectionTitle ?? "Options").uppercased(), &page)
      options.removeAll { $0.sectionTitle == first.sectionTitle }
    }
    guard !command.visibleSubcommands.isEmpty else { return }
    page.macro("SH", "COMMANDS")
    for below in command.visibleSubcommands {
      page.entry(
        Roff.bold(below.words.joined(separator: "-")) + "(1)", Roff.escaped(below.abstract ?? ""))
    }
  }

  private func add(
    _ arguments: [CommandDescription.Argument], _ title: String, _ page: inout Roff
  ) {
    guard !arguments.isEmpty else { return }
    page.macro("SH", Roff.escaped(title))
    for argument in arguments {
      let value = argument.valueName.map { Roff.italic($0) } ?? ""
      let names = (argument.names ?? []).map { Roff.bold($0.typed) }.joined(separator: ", ")
      let tag =
        argument.kind == "option" ? "\(names) \(value)" : argument.isPositional ? value : names
      let body = [argument.abstract, argument.discussion].compactMap(\.self)
        .joined(separator: "\n").split(separator: "\n").map { Roff.escaped($0) }
      page.entry(tag, body.joined(separator: "\n"))
    }
  }

  /// Adds what applies to all commands of a library.
  private func add(_ common: CommonManual, _ page: inout Roff) {
    if common.mainPage == nil || common.mainPage == command.words {
      page.macro("SH", "ENVIRONMENT")
      for (name, text) in common.environment {
        page.entry(Roff.bold(name), Roff.escaped(text))
      }
      page.macro("SH", "FILES")
      for (path, text) in common.files {
        page.entry(Roff.italic(path), Roff.escaped(text))
      }
    }
    page.macro("SH", "EXIT STATUS")
    for (code, meaning) in common.exitCodes {
      page.entry(Roff.bold(String(code)), Roff.escaped(meaning))
    }
  }

  /// The commands above and below, and for each command the main one of its library, which has the
  /// common parts.
  private var related: [String] {
    let parent = command.words.count > 1 ? [command.words.dropLast().joined(separator: "-")] : []
    let main = common?.mainPage.map { [$0.joined(separator: "-")] } ?? []
    let siblings = program.all.filter {
      $0.words.count == command.words.count && $0.superCommands == command.superCommands
    }
    let below = command.visibleSubcommands
    let all =
      main + parent
      + (below.isEmpty ? siblings : below).map {
        $0.words.joined(separator: "-")
      }
    var seen: Set = [name]
    return all.filter { seen.insert($0).inserted }
  }
}

/// The source of a manual page, in the macros of man(7).
struct Roff {
  private(set) var text = ""

  /// Returns text without special characters.
  ///
  /// Hyphens can be copied and typed, because most of them begin an option.
  static func escaped(_ text: some StringProtocol) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
      default:
        let code = String(scalar.value, radix: 16, uppercase: true)
        result += "\\[u\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)]"
      }
    }
    return result.hasPrefix(".") ? "\\&" + result : result
  }

  static func bold(_ text: some StringProtocol) -> String { "\\fB\(escaped(text))\\fR" }
  static func italic(_ text: some StringProtocol) -> String { "\\fI\(escaped(text))\\fR" }

  /// Adds a macro with arguments, which may contain spaces.
  mutating func macro(_ name: String, _ arguments: String...) {
    let quoted = arguments.map { "\"\($0.replacing("\"", with: "\\(dq"))\"" }
    line(([".\(name)"] + quoted).joined(separator: " "))
  }

  /// Adds a line that is already escaped.
  mutating func line(_ line: String) { text += line + "\n" }

  /// Adds an entry: a name, and an indented text below it.
  mutating func entry(_ tag: String, _ body: String) {
    line(".TP")
    line(tag)
    line(body.isEmpty ? "\\&" : body)
  }

  /// Adds lines that stay unchanged.
  mutating func example(_ lines: some Sequence<Substring>) {
    line(".nf")
    line(".RS 2")
    for example in lines { line(Self.escaped(example)) }
    line(".RE")
    line(".fi")
  }
}
