internal import FoundationEssentials
internal import PrephirencesSystem

/// Counts and times as text.
package enum Words {
  /// `1 item`, `2 items`.
  package static func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }

  package static func are(_ count: Int) -> String { count == 1 ? "is" : "are" }

  /// `1 service`, `2 services`.
  package static func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  /// Returns names in quotation marks; if there are many, only the first ones.
  package static func names(_ names: [String]) -> String {
    let shown = names.prefix(5).map { "'\($0)'" }.joined(separator: ", ")
    return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
  }

  /// Returns the end of the question whether a similar name was meant.
  package static func lookAlike(_ name: String, _ word: String) -> String {
    name == word ? ", which looks the same and has other bytes, so complete or copy it" : ""
  }

  /// `1h 30m`, `45s`.
  package static func time(_ duration: Duration) -> String {
    let seconds = Int(duration.components.seconds)
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")]
    let shown = parts.filter { $0.0 > 0 }.prefix(2).map { "\($0.0)\($0.1)" }
    return shown.isEmpty ? "0s" : shown.joined(separator: " ")
  }

  /// Joins words with spaces.
  ///
  /// This runs at the start of each command. The library's generic function makes the runtime
  /// search all conformances of the program.
  package static func joined(_ words: [String]) -> String {
    var text = ""
    for word in words { text += text.isEmpty ? word : " " + word }
    return text
  }

  /// Converts a sentence to a message: no capital letter, no full stop.
  ///
  /// The argument parser joins several guesses with `or:`; each becomes a message.
  package static func inOurStyle(_ sentence: String) -> String {
    let guesses = sentence.split(separator: "\n   or: ")
    guard guesses.count < 2 else {
      return guesses.map { inOurStyle(String($0)) }.joined(separator: ", or: ")
    }
    var text = Substring(sentence.replacing(". Did you mean", with: "; did you mean"))
    if text.hasSuffix(".") { text.removeLast() }
    guard let first = text.first, text.dropFirst().first?.isLowercase ?? false else {
      return String(text)
    }
    return first.lowercased() + text.dropFirst()
  }
}

extension [String] {
  /// Returns the name that is most similar to a word, or `nil` if none is similar.
  ///
  /// A name is similar if only case, surrounding spaces or the Unicode form differ, or at most two
  /// characters and fewer than half of them.
  package func resembling(_ word: String) -> String? {
    let others = filter { !$0.hasSameBytes(as: word) }
    if let same = others.first(where: { $0.plainly == word.plainly }) { return same }
    let best = map { ($0, Self.edits($0, word)) }.min { $0.1 < $1.1 }
    return best.flatMap { $0.1 > 0 && $0.1 <= 2 && $0.1 * 2 < word.count ? $0.0 : nil }
  }

  /// Returns how many characters must be inserted, removed, replaced, or swapped with the next one.
  private static func edits(_ first: String, _ second: String) -> Int {
    let (from, to) = (Array<Character>(first), Array<Character>(second))
    guard abs(from.count - to.count) <= 2 else { return .max }
    var rows = [Array<Int>(0...to.count)]
    for (index, character) in from.enumerated() {
      var row = [index + 1]
      for column in to.indices {
        let isSame = character == to[column]
        var least = Swift.min(
          rows[index][column] + (isSame ? 0 : 1), rows[index][column + 1] + 1, row[column] + 1)
        if index > 0, column > 0, character == to[column - 1], from[index - 1] == to[column] {
          least = Swift.min(least, rows[index - 1][column - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[from.count][to.count]
  }
}

extension String {
  /// The text in lower case, without surrounding spaces.
  fileprivate var plainly: String {
    let start = drop(while: \.isWhitespace)
    let end = start.lastIndex { !$0.isWhitespace }.map(index(after:)) ?? start.startIndex
    return start[..<end].lowercased()
  }
}

/// A pattern of names, as in shells: `*`, `?`, `[a-z]`, `[!a-z]`, and a backslash before a literal
/// character.
///
/// It must match the whole name. Characters are Unicode scalars, case matters, and a slash or a
/// leading dot is an ordinary character.
package struct NamePattern: Hashable, Sendable {
  fileprivate enum Part: Hashable, Sendable {
    case anything
    case one(Characters)
  }

  fileprivate enum Characters: Hashable, Sendable {
    case any
    case literal(Unicode.Scalar)
    case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)
  }

  private let parts: [Part]

  /// Parses a pattern; an unclosed bracket is literal.
  package init(_ text: String) {
    var rest = Array(text.unicodeScalars)[...]
    var parts: [Part] = []
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": parts.append(.anything)
      case "?": parts.append(.one(.any))
      case "[": parts.append(.one(Self.takeSet(from: &rest) ?? .literal(scalar)))
      case "\\": parts.append(.one(.literal(rest.popFirst() ?? scalar)))
      default: parts.append(.one(.literal(scalar)))
      }
    }
    self.parts = parts
  }

  /// Whether the whole name matches.
  ///
  /// If a character doesn't fit, the last `*` takes one more, so the time is at most the product of
  /// both lengths.
  package func matches(_ name: String) -> Bool {
    let scalars = Array(name.unicodeScalars)
    var (part, position) = (0, 0)
    var retry: (part: Int, position: Int)?
    while position < scalars.count {
      if part < parts.count, case .anything = parts[part] {
        part += 1
        retry = (part, position)
      } else if part < parts.count, parts[part].takes(scalars[position]) {
        part += 1
        position += 1
      } else if let last = retry {
        retry = (last.part, last.position + 1)
        (part, position) = (last.part, last.position + 1)
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { $0 == .anything }
  }

  /// Reads the set after an opening bracket up to the closing one, or returns `nil` if there is
  /// none.
  private static func takeSet(from rest: inout ArraySlice<Unicode.Scalar>) -> Characters? {
    var set = rest
    let isNegated = set.first == "!" || set.first == "^"
    if isNegated { set.removeFirst() }
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    var isFirst = true
    while let scalar = set.popFirst() {
      // A bracket in the first place is one of the characters.
      if scalar == "]", !isFirst {
        rest = set
        return .set(ranges, isNegated: isNegated)
      }
      isFirst = false
      let lower = scalar == "\\" ? set.popFirst() ?? scalar : scalar
      var upper = lower
      if set.first == "-", let end = set.dropFirst().first, end != "]" {
        set.removeFirst(2)
        upper = end == "\\" ? set.popFirst() ?? end : end
      }
      if lower <= upper { ranges.append(lower...upper) }
    }
    return nil
  }
}

extension NamePattern.Part {
  /// Whether this part of the pattern matches the character.
  fileprivate func takes(_ scalar: Unicode.Scalar) -> Bool {
    switch self {
    case .anything: false
    case .one(.any): true
    case .one(.literal(let literal)): literal == scalar
    case .one(.set(let ranges, let isNegated)):
      ranges.contains { $0.contains(scalar) } != isNegated
    }
  }
}
