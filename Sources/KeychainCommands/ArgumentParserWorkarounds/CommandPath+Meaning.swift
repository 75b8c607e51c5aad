internal import ArgumentParser

// What somebody meant whose words name nothing.
extension CommandPath {
  /// The command that a word in the place of one means: of that name further below, as where `keychain`
  /// was forgotten, or of a name that resembles it.
  ///
  /// A word that other programs have for a command comes first, and with it the command further below that
  /// has the word for its name, if there is one and no other.
  func commandsMeant(by word: String) -> [String] {
    let names = OtherCommandNames.meanings(of: word)
    let here = command.configuration.subcommands.map { $0._commandName }
    if let meant = names.first(where: here.contains) {
      let below = commandsBelow { $0 == word }
      return below.count == 1 ? [meant] + below : [meant]
    }
    let found =
      commandsBelow { $0 == word || names.contains($0) }.first ?? nameResembling(word)
      ?? commandsBelow { Self.distance($0, word) <= Self.likeness }.first
    return found.map { [$0] } ?? []
  }

  /// The first option before `--` that the command doesn't have; one that can be shown, as it is no secret:
  /// a long one, or a dash and a letter.
  var unknownOption: String? {
    let options = rest.prefix { $0 != "--" }.filter { argument in
      isUnknownDash(argument) && (argument.hasPrefix("--") || argument.count == 2)
    }
    let name = options.first.map { String($0.prefix { $0 != "=" }) }
    return name.flatMap { $0.allSatisfy { $0.isLetter || $0 == "-" } ? $0 : nil }
  }

  /// The command's option that another one resembles most, or is the end of; none resembles a letter.
  func optionResembling(_ option: String) -> String? {
    guard option.hasPrefix("--") else { return nil }
    let known = knownDashes.filter { $0.hasPrefix("--") }.sorted()
    let best = known.map { ($0, Self.distance(String($0), option)) }.min { $0.1 < $1.1 }
    if let best, best.1 <= Self.likeness { return String(best.0) }
    return known.first { $0.hasSuffix(option.dropFirst()) }.map { String($0) }
  }

  /// What stands after `help`, followed as far as it names commands; `nil` where `help` does not stand.
  var topic: CommandPath? {
    guard unknownWord == "help" else { return nil }
    return CommandPath(groups.first ?? command, Array(words) + rest.dropFirst())
  }

  /// The words of the program that lead to the command.
  var spelledOut: String {
    ([(groups.first ?? command)._commandName] + words).joined(separator: " ")
  }

  /// The words that run the commands further below that have a name, of the nearest level that has one.
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

/// What other programs and shells call the commands of this one.
enum OtherCommandNames {
  private static let meanings: [(words: Set<String>, names: [String])] = [
    (
      ["add", "new", "put", "save", "store", "create", "insert", "write", "rotate", "generate"],
      ["set", "add", "create"]
    ),
    (["remove", "del", "erase", "delete", "rm", "forget", "unset"], ["delete", "remove"]),
    (["read", "cat", "fetch", "show-secret", "print", "reveal"], ["get"]),
    (["find", "search", "grep", "dump"], ["list"]),
    (["edit", "change"], ["update"]),
    (["move"], ["rename"]),
  ]

  /// The names that a word can mean here, the likeliest first.
  static func meanings(of word: String) -> [String] {
    meanings.filter { $0.words.contains(word) }.flatMap(\.names).filter { $0 != word }
  }
}
