internal import ArgumentParser
internal import PrephirencesSystem

/// A command line that a shell completes.
package struct CompletionLine {
  /// The word to complete, as far as it is typed.
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

  /// Returns the value of an option, by any of its names.
  package func value(of names: String...) -> String? {
    for (index, word) in options.enumerated() {
      if names.contains(word) { return value(after: index) }
      if let name = names.first(where: { word.hasPrefix($0 + "=") }) {
        return String(word.dropFirst(name.count + 1))
      }
    }
    return nil
  }

  /// Returns whether a flag is given.
  package func has(_ flag: String) -> Bool { options.contains(flag) }

  /// Returns whether a name can be inserted unchanged into the line.
  ///
  /// A name with characters that control a terminal or are invisible is not offered, because lists
  /// of names are lines. Shells expand a tilde at the beginning. A name that begins with a dash
  /// would be an option.
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
    while next + 1 < words.count, words[next + 1].allSatisfy(Self.bashBreaks.contains) {
      value += words[next + 1]
      next += 1
      guard next + 1 < words.count else { break }
      value += words[next + 1]
      next += 1
    }
    return value
  }

  private var isOfBash: Bool { CompletionShell.requesting == .bash }

  /// Before its version 3, fish passed words without their quotes.
  private static var isUnquotedAlready: Bool {
    guard CompletionShell.requesting == .fish else { return false }
    let version = CompletionShell.requestingVersion?.split(separator: ".").first
    return version.flatMap { Int($0) }.map { $0 < 4 } ?? false
  }

  private static let bashBreaks: Set<Character> = ["@", ":", "="]

  /// Returns a word without its quotes; variables stay, because their values are not known.
  private static func unquoted(_ word: String) -> String {
    // In that fish, it means nothing at all.
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
