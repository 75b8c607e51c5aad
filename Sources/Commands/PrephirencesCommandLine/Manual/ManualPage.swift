/// The manual page of one command.
struct ManualPage {
  let command: CommandDescription
  let program: CommandDescription
  let version: String

  /// What the page shares with those of other commands; `nil` for a command of the host.
  let common: CommonManual?

  /// The name of the page and, with the section, of its file.
  var name: String { command.words.joined(separator: "-") }
  var fileName: String { name + ".1" }

  /// The source; the same for every run and on every machine.
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

  /// Whether the name, which appears at both ends of the first line, leaves no room between them in
  /// 78 columns.
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

  /// Adds the paragraphs of the discussion; from "Example:" on, they stay as they are.
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
    // Without the title.
    page.example(lines.dropFirst(2).map { $0.dropFirst($0.hasPrefix("  ") ? 2 : 0) })
  }

  /// Adds arguments, then options by their titles, then commands.
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

  /// Adds a macro with arguments, each of which may have spaces.
  mutating func macro(_ name: String, _ arguments: String...) {
    let quoted = arguments.map { "\"\($0.replacing("\"", with: "\\(dq"))\"" }
    line(([".\(name)"] + quoted).joined(separator: " "))
  }

  /// Adds a line that is escaped already.
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
