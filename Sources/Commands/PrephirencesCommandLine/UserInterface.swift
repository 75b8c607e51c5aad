internal import Glibc
internal import PrephirencesSystem

// The rules for everything a person reads; the types named …Text create the sentences:
// - Prompts and what only the person may see go to the terminal (/dev/tty).
// - Everything else goes to standard error as "<command>: …", "<command>: error: …" and
//   "<command>: hint: …": no capital letter, no full stop.
// - Standard output has only what was requested, and a secret only if it was requested by name.
// - An error says what failed on which item; a hint says what to type next. Neither shows a secret,
//   a passphrase, a key or SQL.
// - Names come from outside: characters that control a terminal or are invisible are escaped.
// - Colour only on a terminal that has it, and not with NO_COLOR.

/// Writes messages for a person to standard error.
package struct UserInterface: Sendable {
  package let hostName: String
  private let isQuiet: Bool
  private let console: Console
  private let hasColour: Bool

  init(
    hostName: String, isQuiet: Bool, console: Console, environment: EnvironmentVariables
  ) {
    self.hostName = hostName
    self.isQuiet = isQuiet
    self.console = console
    hasColour =
      console.error.isTerminal && !environment.isSet("NO_COLOR")
      && environment.text("TERM").map { $0 != "dumb" } ?? false
  }

  /// Reports information; with `--quiet`, only the subject of a question.
  package func say(_ text: String, isAskedAbout: Bool = false) {
    if !isQuiet || isAskedAbout { line(nil, text) }
  }

  /// Tells a person at a terminal what is read from standard input.
  package func sayWaiting(for content: String) {
    guard console.input.isTerminal else { return }
    say("waiting for \(content) on standard input; ^D on a line of its own ends it")
  }

  package func error(_ text: String) { line(("error:", 31), text) }

  package func hint(_ text: String) {
    if !isQuiet { line(("hint:", 36), text) }
  }

  /// Reports what failed, and what to do next.
  ///
  /// A closed pipe is not reported: a reader such as `head` has read enough.
  package func report(_ failure: any CommandFailure) {
    guard failure.systemError != EPIPE else { return }
    error(failure.message)
    if let hint = failure.hint { self.hint(hint) }
  }

  /// Reports a group of commands without a subcommand.
  package func reportMissingCommand(_ words: [String]) {
    error("name a command")
    hint("see '\(words.joined(separator: " ")) --help'")
  }

  /// Shows progress on one line of the terminal, which is overwritten each time.
  package func progress(_ text: String) {
    guard !isQuiet, console.error.isTerminal else { return }
    writeAll("\r\(hostName): \(text.visible)", to: console.error.descriptor)
  }

  package func endProgress() {
    guard !isQuiet, console.error.isTerminal else { return }
    writeAll("\n", to: console.error.descriptor)
  }

  /// Writes a line, wrapped to the terminal's width, with a coloured word for its kind.
  private func line(_ kind: (word: String, colour: Int)?, _ text: String) {
    let words = [kind?.word, text.visible].compactMap(\.self).joined(separator: " ")
    var line = "\(hostName): \(words)"
    if let width = console.error.width {
      line = line.wrapped(to: width, indent: 2)
    }
    if hasColour, let kind, let range = line.firstRange(of: kind.word) {
      line.replaceSubrange(range, with: "\u{1B}[\(kind.colour)m\(kind.word)\u{1B}[0m")
    }
    writeAll(line + "\n", to: console.error.descriptor)
  }
}

package enum FactLines {
  /// Returns pairs as lines with aligned values, limited to the width of a terminal.
  package static func text(_ pairs: [(String, String)], within columns: Int?) -> String {
    let width = pairs.map(\.0.count).max() ?? 0
    return pairs.map { name, value in
      let margin = String(repeating: " ", count: width - name.count + 1)
      let line = "\(name):\(margin)\(value.visible)"
      return (columns.map { line.wrapped(to: $0, indent: width + 2) } ?? line) + "\n"
    }.joined()
  }
}
