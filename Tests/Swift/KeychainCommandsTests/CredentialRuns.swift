import CommandTesting
import Foundation
import Testing

// Short forms of the command lines that most tests of credentials need.

extension TestedProgram {
  /// Stores a secret that is piped in.
  @discardableResult
  func set(_ account: String, _ secret: String = "x", _ options: String...) -> CommandRun {
    run(["set"] + options + ["--", account], input: Array(secret.utf8))
  }

  /// Returns the secret that is printed; empty if there is none.
  func get(_ account: String, _ options: String...) -> String {
    run(["get"] + options + ["--", account]).output
  }

  /// Returns what `show --json` prints.
  func shown(_ account: String, _ options: String...) throws -> [String: Any] {
    try run(["show", "--json"] + options + ["--", account]).object()
  }

  /// Returns what `list --json` prints.
  func listed(_ options: String...) throws -> [[String: Any]] {
    try run(["list", "--json"] + options).objects()
  }

  /// Returns the accounts of a list, in its order.
  func accounts(_ options: String...) throws -> [String] {
    try run(["list", "--json"] + options).objects().map { try #require($0["account"] as? String) }
  }

  /// Runs the words of a line, which a space separates.
  @discardableResult
  func line(_ line: String, input: String = "", columns: Int? = nil) -> CommandRun {
    run(line.split(separator: " ").map(String.init), input: Array(input.utf8), columns: columns)
  }
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

  /// Returns whether the command failed with a code and a text in its message, and printed nothing.
  func failed(_ code: Int32, _ text: String = "prefs: error: ") -> Bool {
    self.code == code && bytes.isEmpty && messages.hasPrefix("prefs: error: ")
      && messages.contains(text)
  }

  /// Standard output as an object of JSON.
  func object() throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  /// Standard output as a list of objects.
  func objects() throws -> [[String: Any]] {
    try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]])
  }
}
