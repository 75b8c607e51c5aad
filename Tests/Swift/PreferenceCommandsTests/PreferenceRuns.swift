import CommandTesting
import Testing

// Short forms of what most tests of preferences need.

extension TestedPreferences {
  /// Runs a command for the domain `web`.
  @discardableResult
  func inWeb(_ words: String..., input: String = "", columns: Int? = nil) -> CommandRun {
    inWeb(words, input: Array(input.utf8), columns: columns)
  }

  /// Runs a command for the domain `web`, whose standard input has these bytes.
  @discardableResult
  func inWeb(_ words: [String], input: [UInt8] = [], columns: Int? = nil) -> CommandRun {
    run(words.prefix(1) + ["--domain", "web"] + words.dropFirst(), input: input, columns: columns)
  }

  /// The preferences of `web`, with a line for each: key, type and value.
  var listed: String { inWeb("list").output }

  /// The number of domains that have been created.
  var domainCount: Int { domains.names().count }
}

extension CommandRun {
  /// The hints, without what comes before them.
  var hints: String {
    messages.split(separator: "\n").compactMap { line in
      line.firstRange(of: "hint: ").map { String(line[$0.upperBound...]) }
    }.joined(separator: "\n")
  }

  /// Whether the command did its work, and wrote nothing.
  var isSilent: Bool { code == 0 && bytes.isEmpty && messages.isEmpty }

  /// Returns whether the command printed this, and said nothing.
  func printed(_ text: String) -> Bool { code == 0 && output == text && messages.isEmpty }

  /// Returns whether the command failed with a code and a text in its messages, and printed nothing.
  func failed(_ code: Int32, _ text: String = "") -> Bool {
    self.code == code && bytes.isEmpty && messages.hasPrefix("prefs: error: ")
      && (text.isEmpty || messages.contains(text))
  }
}
