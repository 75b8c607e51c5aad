internal import ArgumentParser
internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Standard output for values.
struct ValueOutput {
  let stream: StandardStream

  func write(_ text: String) throws(CommandLineError) { try stream.write(text) }

  /// Writes lines; on a terminal, characters that control it are escaped, except tabs.
  func write(lines text: String) throws(CommandLineError) {
    try write((stream.isTerminal ? text.visibleInLines : text) + "\n")
  }

  /// Writes JSON, in which such characters are always escaped.
  func write(_ json: JSONValue) throws(CommandLineError) {
    try write(json.lines.visibleInJSON + "\n")
  }

  func write(_ bytes: Data) throws(CommandLineError) { try stream.write(Array(bytes)) }
}

extension ValueOutput {
  /// Writes a diff: lines for a program, columns for a person, or JSON.
  func write(
    _ differences: [ValueDifference], as form: ValueDifference.Form
  ) throws(CommandLineError) {
    if form == .json { return try write(.array(differences.map(\.json))) }
    try write(
      TextTable(header: ValueDifference.header, rows: differences.flatMap(\.rows), nameCount: 2))
  }

  /// Writes a table: lines for a program, columns for a person.
  func write(_ table: TextTable) throws(CommandLineError) {
    guard stream.isTerminal else { return try write(table.lines) }
    if !table.rows.isEmpty { try write(table.columns(within: stream.width)) }
  }

  /// Writes groups of names with their values.
  func write(facts: [[(String, String)]]) throws(CommandLineError) {
    try write(
      facts.map { FactLines.text($0, within: stream.width) }.joined(separator: "\n"))
  }

  /// Writes a property list, or JSON, as lines.
  func write(file data: Data) throws(CommandLineError) {
    var text = String(decoding: data, as: UTF8.self)
    if text.hasSuffix("\n") { text.removeLast() }
    try write(lines: text)
  }
}

extension String {
  /// The text with terminal control characters escaped, except newlines and tabs.
  fileprivate var visibleInLines: String {
    // By scalars: a carriage return and a newline form one character.
    var result = ""
    var rest = unicodeScalars[...]
    while let end = rest.firstIndex(where: { $0 == "\n" || $0 == "\t" }) {
      result += String(rest[..<end]).visible
      result.unicodeScalars.append(rest[end])
      rest = rest[rest.index(after: end)...]
    }
    return result + String(rest).visible
  }
}

/// Names that the shell offers; nothing is created.
extension CompletionKind {
  static var domains: Self { .names { _ in PreferenceCommandContext.current.domainNames } }

  static var keys: Self {
    .names { line in
      let named = line.value(of: "--domain", "-d")
      let context = PreferenceCommandContext.current
      guard let name = named ?? context.defaultDomain else { return [] }
      return (try? context.domain(named: name).keys()) ?? []
    }
  }
}
