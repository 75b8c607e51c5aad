internal import ArgumentParser

// Workaround for swift-argument-parser, which does not report which command a line names, nor the
// options of a command. Unnecessary once it publishes both.

/// The commands that a command line names, from the root on.
struct CommandPath {
  /// The last command that is named.
  let command: any ParsableCommand.Type

  /// The words that name it, without the root's.
  let words: ArraySlice<String>

  /// The commands above it, from the root on.
  let groups: [any ParsableCommand.Type]

  /// The remaining arguments.
  let rest: ArraySlice<String>

  /// Follows the words of a command line as far as they name commands.
  init(_ root: any ParsableCommand.Type, _ arguments: [String]) {
    var command = root
    var groups: [any ParsableCommand.Type] = []
    var rest = arguments[...]
    while let word = rest.first,
      let next = command.configuration.subcommands.first(where: { $0.isCalled(word) })
    {
      groups.append(command)
      command = next
      rest.removeFirst()
    }
    self.command = command
    self.groups = groups
    self.rest = rest
    words = arguments[..<rest.startIndex]
  }

  /// How many characters may differ between similar names.
  static let likeness = 2

  private var needsSubcommand: Bool { !command.configuration.subcommands.isEmpty }

  /// The word in the place of a command that is not a command's name.
  var unknownWord: String? {
    guard needsSubcommand, let word = rest.first, !word.hasPrefix("-") else { return nil }
    return word
  }

  /// Returns the name of the command below that is most similar to a word; `nil` if none is
  /// similar.
  func nameResembling(_ word: String) -> String? {
    let names = command.configuration.subcommands.flatMap { $0.names } + ["help"]
    let best = names.map { ($0, Self.distance($0, word)) }.min { $0.1 < $1.1 }
    return best.flatMap { $0.1 <= Self.likeness ? $0.0 : nil }
  }

  /// The arguments, in which `help get` means `get --help`.
  ///
  /// The parser supports `help` only at the root.
  var argumentsAskingForHelp: [String] {
    guard !words.isEmpty, unknownWord == "help" else { return Array(words + rest) }
    return words + rest.dropFirst() + ["--help"]
  }

  /// Whether an argument before `--` begins with a dash and is not an option of the command.
  var hasUnknownDash: Bool { rest.prefix { $0 != "--" }.contains(where: isUnknownDash) }

  func isUnknownDash(_ argument: String) -> Bool {
    argument.hasPrefix("-") && !knownDashes.contains(argument.prefix { $0 != "=" })
  }

  /// The options of the command, and other words of its help that begin with a dash.
  ///
  /// The parser has no public list of options.
  var knownDashes: Set<Substring> {
    let words = command.helpMessage().split { !($0.isLetter || $0.isNumber || $0 == "-") }
    return Set(words.filter { $0.hasPrefix("-") })
  }

  static func distance(_ first: String, _ second: String) -> Int {
    second.difference(from: first).count
  }
}

extension ParsableCommand {
  static var names: [String] { [_commandName] + configuration.aliases }

  fileprivate static func isCalled(_ word: String) -> Bool { names.contains(word) }
}
