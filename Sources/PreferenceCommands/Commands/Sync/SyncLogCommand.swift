internal import ArgumentParser
internal import Foundation
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesDurable

/// Lists what is unsent, and what came from other machines.
struct SyncLogCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "List what came from other machines lately, and what is unsent",
    discussion: """
      The newest line is the last. A terminal gets a table, and a pipe a line for each change, whose \
      fields are separated by tabs: time, key, what happened, and the writer. What came is 'set' or \
      'removed', or 'conflict' if a change of this machine was given up for it. What is unsent is \
      'unsent', or 'waits' if something else than the network is needed. A writer is a copy of the \
      store, in hexadecimal digits. Values are not shown.

      Example:
        \(preferencesPath) sync log com.example.web --last 50
      """)

  @Argument(help: "The suite", completion: .sharedSuites)
  var suite: String

  @Option(help: .init("How many changes that came to list", valueName: "number"))
  var last = 20

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  private struct Line {
    let date: Date
    let key: PreferenceKey
    let word: String
    let writer: String?

    var fields: [String] {
      [DateText.text(date), key, word, writer.map { String($0.prefix(8)) } ?? ""]
    }

    var json: JSONValue {
      .object([
        ("time", .date(date)), ("key", .string(key)), ("change", .string(word)),
        ("writer", writer.map(JSONValue.string) ?? .null),
      ])
    }
  }

  func validate() throws {
    guard last >= 0 else { throw ValidationError(SyncUsageText.lastNegative) }
  }

  func perform(in session: SharingSession) throws {
    let replica = try session.suite(suite).replica
    guard try replica.isShared() else { return try show([]) }
    let came = try replica.recentJournal(last).map { entry in
      Line(
        date: entry.date, key: entry.key,
        word: entry.reason == .decision
          ? "decided" : entry.isConflict ? "conflict" : entry.new == nil ? "removed" : "set",
        writer: entry.writer?.hexadecimal)
    }
    let unsent = try replica.unsent().map { change in
      Line(
        date: change.date, key: change.key, word: change.waits ? "waits" : "unsent", writer: nil)
    }
    try show(came + unsent)
  }

  private func show(_ lines: [Line]) throws {
    if json { return try ValueOutput.write(.array(lines.map(\.json))) }
    let table = TextTable(
      header: ["TIME", "KEY", "CHANGE", "WRITER"], rows: lines.map(\.fields))
    guard StandardOutput.isTerminal else { return try StandardOutput.write(table.lines) }
    if !lines.isEmpty { try StandardOutput.write(table.columns) }
  }
}

extension WriterTag {
  fileprivate var hexadecimal: String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count < 2 ? "0" + digits : digits
    }.joined()
  }
}
