package import ArgumentParser
internal import PrephirencesSystem

extension CompletionKind {
  /// Names that the program offers for the word at the cursor.
  ///
  /// Names that cannot be inserted unchanged are left out, and each is quoted as the shell needs
  /// it.
  ///
  /// `find` must neither ask nor report anything, and must return soon.
  package static func names(_ find: @escaping @Sendable (CompletionLine) -> [String]) -> Self {
    .custom { words, index, _ in
      let line = CompletionLine(words: words, index: index)
      return find(line).filter(line.accepts).map(\.forCompletion)
    }
  }
}

package struct CompletionLine {
  /// The typed part of the word to complete.
  ///
  /// The argument parser passes only the beginning of the last word, which may be another one.
  package let prefix: String

  /// The words as the program will receive them, without the word to complete.
  private let words: [String]

  /// The number of words before the word to complete.
  private let countBefore: Int

  package init(words: [String], index: Int) {
    prefix = words.indices.contains(index) ? Self.unquoted(words[index]) : ""
    let before = words.prefix(max(index, 0))
    countBefore = before.count
    self.words = (before + words.dropFirst(countBefore + 1)).map(Self.unquoted)
  }

  package func value(of names: String...) -> String? {
    for (index, word) in options.enumerated() {
      if names.contains(word) { return value(after: index) }
      if let name = names.first(where: { word.hasPrefix($0 + "=") }) {
        return String(word.dropFirst(name.count + 1))
      }
    }
    return nil
  }

  package func has(_ flag: String) -> Bool { options.contains(flag) }

  /// Whether a name can be inserted unchanged into the line.
  ///
  /// A name with characters that control a terminal or are invisible is not offered, because the
  /// lists are lines. Shells expand a tilde at the beginning, and a dash there would make it an
  /// option.
  package func accepts(_ name: String) -> Bool {
    guard !name.isEmpty, !name.hasPrefix("~"), name.visible.hasSameBytes(as: name),
      name.isQuoted(by: CompletionShell.requesting)
    else { return false }
    return !name.hasPrefix("-") || isOperand
  }

  /// The words up to `--`, after which there are no options.
  private var options: ArraySlice<String> { words.prefix { $0 != "--" } }

  private var isOperand: Bool { words.prefix(countBefore).contains("--") }

  /// Returns the word after another one, joined again: bash splits words at some characters.
  private func value(after index: Int) -> String? {
    var next = index + 1
    if isOfBash, next < words.count, words[next] == "=" { next += 1 }
    // The word to complete is not the value of an option yet.
    guard next < words.count, index + 1 != countBefore else { return nil }
    var value = words[next]
    guard isOfBash else { return value }
    while next + 1 < words.count, !words[next + 1].isEmpty,
      words[next + 1].allSatisfy(Self.bashBreaks.contains)
    {
      value += words[next + 1]
      next += 1
      guard next + 1 < words.count else { break }
      value += words[next + 1]
      next += 1
    }
    return value
  }

  private var isOfBash: Bool { CompletionShell.requesting == .bash }

  /// Before version 3, fish passed words without their quotes.
  private static var isUnquotedAlready: Bool {
    guard CompletionShell.requesting == .fish else { return false }
    let version = CompletionShell.requestingVersion?.split(separator: ".").first
    return version.flatMap { Int($0) }.map { $0 < 4 } ?? false
  }

  private static let bashBreaks: Set<Character> = ["@", ":", "="]

  /// Returns a word without its quotes; variables stay, because their values are unknown.
  private static func unquoted(_ word: String) -> String {
    // In that fish, quotes are already removed.
    guard !isUnquotedAlready else { return word == "''" ? "" : word }
    var result = ""
    var quote: Character?
    var isEscaped = false
    for character in word {
      if isEscaped {
        if quote == "\"", !"$`\"\\".contains(character) { result.append("\\") }
        result.append(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote, character == open {
        quote = nil
      } else if quote == nil, character == "'" || character == "\"" {
        quote = character
      } else {
        result.append(character)
      }
    }
    return result
  }
}

// Workaround for swift-argument-parser, whose completion scripts do not know aliases of commands,
// do not quote names that a program offers, and in fish read the whole line for each option.
// Unnecessary once its scripts do all three.

/// The argument parser's script for completing command lines in a shell, extended with aliases.
struct CompletionScript {
  private let root: any ParsableCommand.Type
  private let lines: [String]

  /// Takes the parser's script, or returns `nil` for another text.
  init?(_ root: any ParsableCommand.Type, _ text: String) {
    let beginnings = ["#!/bin/bash", "#compdef ", "function __"]
    guard beginnings.contains(where: text.hasPrefix), text.contains("---completion") else {
      return nil
    }
    self.root = root
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
  }

  /// The script, which completes an alias like its command.
  var text: String {
    let isOfFish = lines.first?.hasPrefix("function ") ?? false
    return (isOfFish ? functionsOfFish + linesOfFish : linesWithBranches).joined(separator: "\n")
  }

  /// bash and zsh: after the branch for the names of a group's commands, one for each alias.
  private var linesWithBranches: [String] {
    let groups = Self.groups(below: root)
    var result: [String] = []
    var index = 0
    while index < lines.count {
      let group = groups.first { $0.isBranch(lines[index]) }
      let end = lines[index...].firstIndex { $0.hasSuffix(";;") } ?? lines.count - 1
      let branch = lines[index...(group == nil ? index : end)]
      result += branch
      for (alias, name) in group?.aliases ?? [] {
        let margin = lines[index].prefix { $0 == " " }
        result.append("\(margin)\(alias))")
        result += branch.dropFirst().map {
          $0.replacing("${subcommand}", with: name).replacing("${words[1]}", with: name)
        }
      }
      index += branch.count
    }
    return result
  }

  /// fish: the branch of a command also takes its aliases, and continues with the name.
  private var linesOfFish: [String] {
    var path: [String] = []
    return lines.flatMap { line -> [String] in
      if line.hasPrefix("function \(prefixOfFish)_should_offer_") {
        return [line, "    \(prefixOfFish)_is_at $expected_commands; or return"]
      }
      let margin = line.prefix { $0 == " " }
      let words = line.split(separator: "'")
      guard words.count == 2, words[0].dropFirst(margin.count) == "case " else { return [line] }
      // Each level is indented one step further.
      path = path.prefix(margin.count / 4 - 1) + [String(words[1])]
      let aliases = CommandPath(root, Array(path.dropFirst())).aliases(at: path.count - 1)
      guard !aliases.isEmpty else { return [line] }
      let labels = aliases.map { " '\($0)'" }.joined()
      return [line + labels, "\(margin)    set unparsed_tokens[1] '\(words[1])'"]
    }
  }

  /// The prefix of the script's functions in fish.
  private var prefixOfFish: String {
    "__" + root._commandName.replacing("-", with: "_")
  }

  /// fish: a function that finds the command of a line once for all conditions; the script has a
  /// condition for each option of each command.
  private var functionsOfFish: [String] {
    """
    function \(prefixOfFish)_is_at -a command
        set -l line (commandline -pc)
        if not set -qg \(prefixOfFish)_commands; or test "$line" != "$\(prefixOfFish)_line"
            set -l non_repeating_flags_or_options
            set -l non_repeating_flags_or_options_absent 0
            set -l positional_index 0
            set -l commands
            \(prefixOfFish)_parse_tokens
            set -g \(prefixOfFish)_line "$line"
            set -g \(prefixOfFish)_commands "$commands"
        end
        test "$\(prefixOfFish)_commands" = "$command"
    end

    """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// The commands below a group, if some have aliases.
  private struct Group {
    let names: String
    let aliases: [(alias: String, name: String)]

    /// Whether a line of a script begins the branch for the names of the group's commands.
    func isBranch(_ line: String) -> Bool {
      let label = line.drop { $0 == " " }
      return label == "\(names))" || label == "\(names)|help)"
    }
  }

  private static func groups(below command: any ParsableCommand.Type) -> [Group] {
    let commands = command.configuration.subcommands
    let shown = commands.filter { $0.configuration.shouldDisplay }
    let aliases = shown.flatMap { command in
      command.configuration.aliases.map { ($0, command._commandName) }
    }
    let names = shown.map { $0._commandName }.joined(separator: "|")
    let group = aliases.isEmpty ? [] : [Group(names: names, aliases: aliases)]
    return group + commands.flatMap(groups)
  }
}

extension CommandPath {
  /// The aliases of the command, if it is at this depth.
  fileprivate func aliases(at depth: Int) -> [String] {
    words.count == depth ? command.configuration.aliases : []
  }
}

extension String {
  /// The name, quoted so that the requesting shell takes it literally.
  ///
  /// The argument parser does not quote it, and the shells interpret it: bash expands each line as
  /// a word of a command, so `$(…)` in a name would run; zsh takes the text after a colon for a
  /// description.
  var forCompletion: String { forCompletion(in: CompletionShell.requesting) }

  /// Whether a shell quotes the whole name when it puts it into the line.
  ///
  /// bash does not quote variables and commands, and zsh does not quote history references: Enter
  /// would run them.
  func isQuoted(by shell: CompletionShell?) -> Bool {
    switch shell {
    case .some(.bash): !contains { $0 == "$" || $0 == "`" }
    case .some(.zsh): !contains("!")
    default: true
    }
  }

  func forCompletion(in shell: CompletionShell?) -> String {
    switch shell {
    case .some(.bash): "'" + replacing("'", with: "'\\''") + "'"
    case .some(.zsh): replacing("\\", with: "\\\\").replacing(":", with: "\\:")
    default: self
    }
  }
}
