internal import ArgumentParser

// Workaround for swift-argument-parser, which reports neither the command that a line names nor a
// command's options. Unnecessary once it publishes both.

/// The commands that a command line names, from the root on.
struct CommandPath {
  /// The last command that is named.
  let command: any ParsableCommand.Type

  /// The words that name it, without the root's.
  let words: ArraySlice<String>

  /// The commands above it, from the root on.
  let groups: [any ParsableCommand.Type]

  let rest: ArraySlice<String>

  /// Follows the words of a command line while they name commands.
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

  /// The word in the place of a command that does not name one.
  var unknownWord: String? {
    guard needsSubcommand, let word = rest.first, !word.hasPrefix("-") else { return nil }
    return word
  }

  /// Returns the name of the command below that is most similar to a word, or `nil`.
  func nameResembling(_ word: String) -> String? {
    let names = command.configuration.subcommands.flatMap { $0.names } + ["help"]
    let best = names.map { ($0, Self.distance($0, word)) }.min { $0.1 < $1.1 }
    return best.flatMap { $0.1 <= Self.likeness ? $0.0 : nil }
  }

  /// The arguments, with `help get` replaced by `get --help`.
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

// Guesses what a person meant by a word that does not name a command or option.
extension CommandPath {
  /// Returns the commands that a word may mean: one with that name further below, as when
  /// `keychain` was forgotten, or one with a similar name.
  ///
  /// The command that other programs call so comes first. Then comes the only command further below
  /// with exactly this name; if there are several, all of them are returned.
  func commandsMeant(by word: String) -> [String] {
    let names = OtherCommandNames.meanings(of: word)
    let here = command.configuration.subcommands.map { $0._commandName }
    if let meant = names.first(where: here.contains) {
      let below = commandsBelow { $0 == word }
      return below.count == 1 ? [meant] + below : [meant]
    }
    let exact = commandsBelow { $0 == word }
    if exact.count > 1 { return exact }
    let found =
      commandsBelow { $0 == word || names.contains($0) }.first ?? nameResembling(word)
      ?? commandsBelow { Self.distance($0, word) <= Self.likeness }.first
    return found.map { [$0] } ?? []
  }

  /// The first option before `--` that the command doesn't have.
  ///
  /// Because it is shown, it must not be a secret: only a long option, or a dash and a letter, is
  /// returned.
  var unknownOption: String? {
    let options = rest.prefix { $0 != "--" }.filter { argument in
      isUnknownDash(argument) && (argument.hasPrefix("--") || argument.count == 2)
    }
    let name = options.first.map { String($0.prefix { $0 != "=" }) }
    return name.flatMap { $0.allSatisfy { $0.isLetter || $0 == "-" } ? $0 : nil }
  }

  /// Returns the command's option that is most similar to a long option, or ends with it.
  func optionResembling(_ option: String) -> String? {
    guard option.hasPrefix("--") else { return nil }
    let known = knownDashes.filter { $0.hasPrefix("--") }.sorted()
    let best = known.map { ($0, Self.distance(String($0), option)) }.min { $0.1 < $1.1 }
    if let best, best.1 <= Self.likeness { return String(best.0) }
    return known.first { $0.hasSuffix(option.dropFirst()) }.map { String($0) }
  }

  /// What to type instead, if another program understands the line.
  var otherUsage: OtherUsage? {
    let arguments = Array(rest.prefix { $0 != "--" })
    if let command = command as? any PackageCommand.Type,
      let usage = command.otherUsage(arguments, isNamed: true)
    {
      return usage
    }
    let below = command.configuration.subcommands.filter { $0.configuration.subcommands.isEmpty }
    return below.lazy.compactMap { $0 as? any PackageCommand.Type }
      .compactMap { $0.otherUsage(arguments, isNamed: false) }.first
  }

  /// The command's hint for a message.
  func usageHint(for message: String) -> String? {
    (command as? any PackageCommand.Type)?
      .usageHint(for: message, hasUnknownDash: hasUnknownDash)
  }

  /// The commands that the words after `help` name, or `nil` without `help`.
  var topic: CommandPath? {
    guard unknownWord == "help" else { return nil }
    return CommandPath(groups.first ?? command, Array(words) + rest.dropFirst())
  }

  var spelledOut: String {
    ([(groups.first ?? command)._commandName] + words).joined(separator: " ")
  }

  /// Returns the words that run the commands with a name, on the nearest level below that has one.
  private func commandsBelow(isNamed: (String) -> Bool) -> [String] {
    var level = command.configuration.subcommands.map { (words: [$0._commandName], type: $0) }
    while !level.isEmpty {
      level = level.flatMap { above in
        above.type.configuration.subcommands.map { (above.words + [$0._commandName], $0) }
      }
      let found = level.filter { $0.type.names.contains(where: isNamed) }
      guard found.isEmpty else {
        return found.map { ([spelledOut] + $0.words).joined(separator: " ") }
      }
    }
    return []
  }
}

/// How other programs and shells call the commands of this program.
enum OtherCommandNames {
  private static let meanings: [(words: Set<String>, names: [String])] = [
    (
      ["add", "new", "put", "save", "store", "create", "insert", "write", "rotate", "generate"],
      ["set", "add", "create"]
    ),
    (["remove", "del", "erase", "delete", "rm", "forget", "unset"], ["delete", "remove"]),
    (["read", "cat", "fetch", "show-secret", "print", "reveal"], ["get"]),
    (["find", "search", "grep", "dump", "domains"], ["list"]),
    (["edit", "change"], ["update"]),
    (["move"], ["rename"]),
    (["get", "cat", "fetch", "print", "read-type"], ["read"]),
    (["set", "put", "save", "store"], ["write"]),
    (["observe", "follow", "tail"], ["watch"]),
  ]

  /// Returns the names that a word can mean here, the most likely first.
  static func meanings(of word: String) -> [String] {
    meanings.filter { $0.words.contains(word) }.flatMap(\.names).filter { $0 != word }
  }
}

// Workaround for swift-argument-parser, which builds all commands of a program with all arguments
// before it parses one. That takes most of the time of reading a secret. Unnecessary once the
// parser only looks at the commands that a line names.

extension CommandPath {
  /// The command, parsed without the commands above it, or `nil` if these may change the result.
  ///
  /// If anything is wrong with the line, this is `nil`, and the root parses it again, because its
  /// messages contain the whole path.
  func parsedAlone() -> (any ParsableCommand)? {
    // A host's own commands may use those above them.
    guard let command = command as? any PackageCommand.Type,
      command.configuration.subcommands.isEmpty, groups.allSatisfy({ $0.takesNoArguments })
    else { return nil }
    do {
      let parsed = try command.parseAsRoot(Array(rest))
      // Otherwise it is the parser's own command, which prints help.
      guard type(of: parsed) == command else { return nil }
      // Last: the root checks again after `nil`, and a host's check may have effects.
      for group in groups { try group.validateEmpty() }
      return parsed
    } catch {
      return nil
    }
  }
}
