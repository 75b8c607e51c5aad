internal import ArgumentParser
internal import KeychainCredentials

/// A command line that a shell completes.
struct CompletionLine {
  /// The word that is completed, as far as it is typed.
  ///
  /// What the argument parser gives for it is the beginning of the last word, which may be another one.
  let prefix: String

  /// The words as the program will get them, without the one that is completed.
  private let words: [String]

  /// The number of words before that one.
  private let countBefore: Int

  init(words: [String], index: Int) {
    prefix = words.indices.contains(index) ? Self.unquoted(words[index]) : ""
    let before = words.prefix(max(index, 0))
    countBefore = before.count
    self.words = (before + words.dropFirst(countBefore + 1)).map(Self.unquoted)
  }

  /// The value that an option is given, by any of its names.
  func value(of names: String...) -> String? {
    for (index, word) in options.enumerated() {
      if names.contains(word) { return value(after: index) }
      if let name = names.first(where: { word.hasPrefix($0 + "=") }) {
        return String(word.dropFirst(name.count + 1))
      }
    }
    return nil
  }

  /// Whether a flag is given.
  func has(_ flag: String) -> Bool { options.contains(flag) }

  /// Whether a name can be given as it is where the line is completed.
  ///
  /// A name with characters that control a terminal or are invisible is not offered, since lists of names
  /// are lines. Shells expand a tilde at the beginning. A name that begins with a dash would be an option.
  func accepts(_ name: String) -> Bool {
    guard !name.isEmpty, !name.hasPrefix("~"), name.visible.hasSameBytes(as: name),
      name.isQuoted(by: CompletionShell.requesting)
    else { return false }
    return !name.hasPrefix("-") || isOperand
  }

  /// Everything up to `--`, after which nothing is an option.
  private var options: ArraySlice<String> { words.prefix { $0 != "--" } }

  private var isOperand: Bool { words.prefix(countBefore).contains("--") }

  /// The word after another one, joined again: bash splits words at some characters.
  private func value(after index: Int) -> String? {
    var next = index + 1
    if isOfBash, next < words.count, words[next] == "=" { next += 1 }
    // The word that is completed is no value of an option yet.
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

  /// Until its third version, fish gave words without their quotes.
  private static var isUnquotedAlready: Bool {
    guard CompletionShell.requesting == .fish else { return false }
    let version = CompletionShell.requestingVersion?.split(separator: ".").first
    return version.flatMap { Int($0) }.map { $0 < 4 } ?? false
  }

  private static let bashBreaks: Set<Character> = ["@", ":", "="]

  /// A word without its quotes; variables stay, as their values are not known.
  private static func unquoted(_ word: String) -> String {
    // It stands for nothing at all there.
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
