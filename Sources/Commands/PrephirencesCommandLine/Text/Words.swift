internal import FoundationEssentials

/// Counts and times as text.
package enum Words {
  /// `1 item`, `2 items`.
  package static func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }

  package static func are(_ count: Int) -> String { count == 1 ? "is" : "are" }

  /// `1 service`, `2 services`.
  package static func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  /// Returns what follows the name of something in the question whether it was meant.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - word: What was typed.
  /// - Returns: How they differ, if that cannot be seen; otherwise nothing.
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

  /// Joins words by spaces.
  ///
  /// The library's function is generic, for which the runtime searches all conformances of the
  /// program; this one runs at the start of each command.
  package static func joined(_ words: [String]) -> String {
    var text = ""
    for word in words { text += text.isEmpty ? word : " " + word }
    return text
  }

  /// Converts a sentence to a message: no capital, no full stop.
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
