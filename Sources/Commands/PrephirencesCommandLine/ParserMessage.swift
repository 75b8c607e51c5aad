internal import ArgumentParser
internal import PrephirencesSystem

// Workaround for swift-argument-parser, whose errors are English sentences without the missing
// argument or the command as values. Unnecessary once its errors are public values.

/// The argument parser's errors about a command line, in the style of this package.
enum ParserMessage {
  /// Returns what is wrong with a command line, in the style of this package.
  ///
  /// Messages of a command's author stay unchanged: a name such as GitHub keeps its capital letter.
  static func fault(_ message: String, _ path: CommandPath, isOfHost: Bool) -> String {
    if let word = path.unknownWord { return noCommand(word, path) }
    // The value of an unknown option looks like an extra argument.
    if let command = path.command as? any PackageCommand.Type,
      command.isAboutExtraArgument(message), let option = path.unknownOption
    {
      return noOption(option, path)
    }
    guard !isOfHost else { return message }
    guard let command = path.command as? any PackageCommand.Type, !command.showsValues else {
      return Words.inOurStyle(onOneLine(message))
    }
    if message.lowercased().contains("unexpected argument") {
      return "there is an extra argument; it is not shown, as it may be a secret"
    }
    return Words.inOurStyle(onOneLine(withoutValue(message)))
  }

  /// Returns a message of the parser without the value that it repeats.
  private static func withoutValue(_ message: String) -> String {
    if message.hasPrefix("The value '"), let end = message.ranges(of: "' is invalid").last {
      return "The value is invalid" + message[end.upperBound...]
    }
    if message.hasPrefix("The option '"), let value = message.firstRange(of: ", but '") {
      return String(message[..<value.lowerBound])
    }
    return message
  }

  /// Returns a message of the parser on one line; some have several.
  private static func onOneLine(_ message: String) -> String {
    message.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
      .replacing(". Please ", with: "; please ")
  }

  static func noCommand(_ word: String, _ path: CommandPath) -> String {
    let names = path.commandsMeant(by: word).map { "'\($0)'" }
    let meant = names.isEmpty ? "" : "; did you mean \(names.joined(separator: " or "))?"
    return "there is no command '\(word)'\(meant)"
  }

  private static func noOption(_ option: String, _ path: CommandPath) -> String {
    let meant = path.optionResembling(option).map { "; did you mean '\($0)'?" } ?? ""
    return "unknown option '\(option)'\(meant)"
  }

  /// Whether an error of the argument parser wraps one of a command's own `validate()`.
  ///
  /// The parser has no public name for that, so this reads its private fields. An unrecognized
  /// error counts as the parser's.
  static func isOfHost(_ error: any Error) -> Bool {
    let fault = Mirror(reflecting: error).children.first { $0.label == "parserError" }?.value
    return fault.map { Mirror(reflecting: $0).children.first?.label } == "userValidationError"
  }
}

extension UserInterface {
  func reportUsage(_ message: String, details: String, path: CommandPath, isOfHost: Bool = false) {
    let other = path.otherUsage
    error(other?.message ?? ParserMessage.fault(message, path, isOfHost: isOfHost))
    if let hint = other?.hint ?? path.usageHint(for: message) { self.hint(hint) }
    hintAtHelp(in: details)
  }

  /// Reports the failure of a command, in its author's words.
  func reportFailure(_ message: String, details: String) {
    error(message)
    hintAtHelp(in: details.hasSuffix("for more information.") ? details : "")
  }

  private func hintAtHelp(in details: String) {
    let parts = details.split(separator: "See '").last?.split(separator: "'")
    if details.contains("See '"), let command = parts?.first { hint("see '\(command)'") }
  }
}

// Workaround for swift-argument-parser, which wraps the lines of examples like prose, and shows a
// command's own options after shared ones. Unnecessary once the parser keeps indented lines and
// orders the sections of help.

/// The help of a command as a program shows it.
struct HelpText {
  let text: String

  /// Lays out the parser's text if it is the help of a command; other text stays.
  init(
    _ root: any ParsableCommand.Type, _ path: CommandPath, message: String,
    terminal: Int?
  ) {
    let command = (path.topic ?? path).command
    guard message == root.helpMessage(for: command) else {
      text = message
      return
    }
    let columns = terminal.map { min(max($0, Self.leastWidth), TerminalWidth.ofReading) }
    let width = columns ?? TerminalWidth.usual
    let help = root.helpMessage(for: command, columns: width)
    text =
      command is any PackageCommand.Type
      ? Self.ordered(Self.overview(of: command, width) + Self.usage(in: help)) : help
  }

  /// What a command does, with examples that can be copied.
  private static func overview(of command: any ParsableCommand.Type, _ width: Int) -> String {
    let texts = [command.configuration.abstract, command.configuration.discussion]
    let text = "OVERVIEW: " + texts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    return lines.map { line in
      line.hasPrefix("  ") ? line.exampleBroken(to: width) : line.wrapped(to: width, indent: 0)
    }
    .joined(separator: "\n") + "\n\n"
  }

  private static func usage(in help: String) -> Substring {
    help.firstRange(of: "\nUSAGE: ").map { help[help.index(after: $0.lowerBound)...] } ?? help[...]
  }

  /// Puts the command's own options before shared ones, which have titles.
  ///
  /// The parser shows them last, together with `--help` and `--version`.
  static func ordered(_ help: String) -> String {
    var parts = help.split(separator: "\n\n", omittingEmptySubsequences: false)
      .map { String($0) }
    guard let usage = parts.lastIndex(where: { $0.hasPrefix("USAGE: ") }),
      let index = parts[usage...].firstIndex(where: { $0.hasPrefix(title) }),
      index == parts.count - 1, index > usage + 1
    else { return help }
    let entries = entries(of: parts.removeLast().dropFirst(title.count))
    let own = entries.filter { !isOfEveryCommand($0) }
    parts[index - 1] += "\n" + entries.filter(isOfEveryCommand).joined(separator: "\n")
    let hasArguments = parts[usage + 1].hasPrefix("ARGUMENTS:\n")
    if !own.isEmpty {
      parts.insert(title + own.joined(separator: "\n"), at: usage + (hasArguments ? 2 : 1))
    }
    return parts.joined(separator: "\n\n") + "\n"
  }

  private static let title = "OPTIONS:\n"

  /// With fewer columns, the parser omits the descriptions of options.
  private static let leastWidth = 40

  /// The options, each with its text, whose lines are indented further.
  private static func entries(of section: Substring) -> [String] {
    var entries: [String] = []
    for line in section.split(separator: "\n") {
      if line.hasPrefix("  -") {
        entries.append(String(line))
      } else if let last = entries.indices.last {
        entries[last] += "\n" + line
      }
    }
    return entries
  }

  private static func isOfEveryCommand(_ entry: String) -> Bool {
    let names = entry.split { !($0.isLetter || $0 == "-") }.prefix { $0.hasPrefix("-") }
    return names.contains("--help") || names.contains("--version")
  }
}
