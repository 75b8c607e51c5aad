internal import ArgumentParser
internal import PrephirencesCommandLine

/// Shows how shared suites stand.
struct SyncStatusCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show what is in step, what is unsent, and why",
    discussion: """
      It asks no other machine: it shows what this one knows, also which process sends, what waits for \
      whom, which changes were given up lately for those of other machines, and what the engine said \
      last. In JSON, hasBegun says whether changes of the suite are noted, and revision is 0 before the \
      first contact. Values are not shown.

      Example:
        \(preferencesPath) sync status
        \(preferencesPath) sync status --json
      """)

  @Argument(help: "The suites; all that are shared if there is none", completion: .sharedSuites)
  var suites: [String] = []

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  func perform(in session: SharingSession) throws {
    let reports = try session.suites(suites).map { try SuiteReport($0) }
    if json { return try ValueOutput.write(.array(reports.map(\.json))) }
    if reports.isEmpty { return session.interface.say("no preferences are shared") }
    try StandardOutput.write(
      reports.map { FactLines.text($0.facts(path: session.path)) }.joined(separator: "\n"))
  }
}
