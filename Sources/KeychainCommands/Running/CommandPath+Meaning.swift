internal import ArgumentParser

// What somebody meant whose words name nothing.
extension CommandPath {
  /// The command that a word in the place of one means: of that name further below, as where `keychain`
  /// was forgotten, or of a name that resembles it.
  func commandMeant(by word: String) -> String? {
    commandBelow { $0 == word } ?? nameResembling(word)
      ?? commandBelow { Self.distance($0, word) <= Self.likeness }
  }

  /// The first option before `--` that the command doesn't have; one that can be shown, as it is no secret.
  var unknownOption: String? {
    let options = rest.prefix { $0 != "--" }.filter { isUnknownDash($0) && $0.hasPrefix("--") }
    let name = options.first.map { String($0.prefix { $0 != "=" }) }
    return name.flatMap { $0.allSatisfy { $0.isLetter || $0 == "-" } ? $0 : nil }
  }

  /// The command's option that another one resembles most, or is the end of.
  func optionResembling(_ option: String) -> String? {
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

  /// The words that run the next command further below that has a name, the nearest level first.
  private func commandBelow(isNamed: (String) -> Bool) -> String? {
    var level = command.configuration.subcommands.map { (words: [$0._commandName], type: $0) }
    while !level.isEmpty {
      level = level.flatMap { above in
        above.type.configuration.subcommands.map { (above.words + [$0._commandName], $0) }
      }
      let found = level.first { $0.type.names.contains(where: isNamed) }
      if let found { return ([spelledOut] + found.words).joined(separator: " ") }
    }
    return nil
  }
}
