internal import ArgumentParser
internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

enum ValueOutput {
  /// Writes lines; on a terminal, characters that control it are escaped, except tabs.
  static func write(lines text: String) throws(CommandLineError) {
    guard StandardOutput.isTerminal else { return try StandardOutput.write(text + "\n") }
    try StandardOutput.write(text.visibleInLines + "\n")
  }

  /// Writes JSON, in which such characters are always escaped.
  static func write(_ json: JSONValue) throws(CommandLineError) {
    try StandardOutput.write(json.lines.visibleInJSON + "\n")
  }

  static func write(_ bytes: Data) throws(CommandLineError) {
    try StandardOutput.write(Array(bytes))
  }
}

extension ValueOutput {
  /// Writes a diff: lines for a program, columns for a person, or JSON.
  static func write(
    _ differences: [ValueDifference], as form: ValueDifference.Form
  ) throws(CommandLineError) {
    if form == .json { return try write(.array(differences.map(\.json))) }
    try write(
      TextTable(header: ValueDifference.header, rows: differences.flatMap(\.rows), nameCount: 2))
  }

  /// Writes a table: lines for a program, columns for a person.
  static func write(_ table: TextTable) throws(CommandLineError) {
    guard StandardOutput.isTerminal else { return try StandardOutput.write(table.lines) }
    if !table.rows.isEmpty { try StandardOutput.write(table.columns) }
  }

  /// Writes a property list, or JSON, as lines.
  static func write(file data: Data) throws(CommandLineError) {
    var text = String(decoding: data, as: UTF8.self)
    if text.hasSuffix("\n") { text.removeLast() }
    try write(lines: text)
  }
}

extension String {
  /// The text with what a terminal would act on escaped, except newlines and tabs.
  fileprivate var visibleInLines: String {
    // By scalars: a carriage return and a newline are one character.
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

/// The names that the shell offers; nothing is created for them.
extension CompletionKind {
  static var domains: Self { .names { _ in PreferenceDomain.names() } }

  static var keys: Self {
    .names { line in
      let named = line.value(of: "--domain", "-d")
      guard let name = named ?? PreferenceCommandContext.current.defaultDomain else { return [] }
      let domain = PreferenceDomain(named: name)
      return (try? domain.keys()) ?? []
    }
  }
}
