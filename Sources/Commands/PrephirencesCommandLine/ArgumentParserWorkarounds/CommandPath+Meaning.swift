internal import ArgumentParser

// Guesses what a person meant by a word that is not the name of a command or option.
extension CommandPath {
  /// Returns the commands that a word may mean: a command of that name further below, as when
  /// `keychain` was forgotten, or one with a similar name.
  ///
  /// The command that has this name in other programs comes first, followed by the command further
  /// below that has exactly this name, if there is only one. Otherwise all of that name are returned.
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
  /// Because it is shown, only an option that cannot be a secret is returned: a long one, or a dash
  /// and a letter.
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

  /// What the command says of a message.
  func usageHint(for message: String) -> String? {
    (command as? any PackageCommand.Type)?
      .usageHint(for: message, hasUnknownDash: hasUnknownDash)
  }

  /// The commands that the words after `help` name; `nil` without `help`.
  var topic: CommandPath? {
    guard unknownWord == "help" else { return nil }
    return CommandPath(groups.first ?? command, Array(words) + rest.dropFirst())
  }

  /// The words that run the command.
  var spelledOut: String {
    ([(groups.first ?? command)._commandName] + words).joined(separator: " ")
  }

  /// Returns the words that run the commands of a name, on the nearest level below that has one.
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

/// What other programs and shells call the commands of this program.
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
