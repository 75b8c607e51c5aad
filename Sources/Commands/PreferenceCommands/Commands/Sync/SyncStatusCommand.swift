internal import ArgumentParser
internal import PreferencesShared
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

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

      --check is for monitoring: it prints a line for each suite that is not well, and ends with 0 if \
      all are, with 75 if one is not in step for now, and with 64, 65, 69, 74, 77, 78 or 79 if a person \
      must mend something; the worst counts. If nothing is shared, it ends with 44. In JSON, healthy, \
      code and problem say the same of each suite.

      Example:
        \(preferencesPath) sync status
        \(preferencesPath) sync status --check --unsent-within 10m
      """)

  @Argument(help: "The suites; all that are shared if there is none", completion: .sharedSuites)
  var suites: [String] = []

  @Flag(help: "Print JSON")
  var json = false

  @Flag(help: "Print only what is not well, and end with its code")
  var check = false

  @Option(
    help: .init(
      "How long a change may be unsent before that is not well (default: 5m)", valueName: "time"),
    transform: WatchCommand.duration)
  var unsentWithin = SuiteHealth.unsentLimit

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  /// A suite, with its report or why there is none.
  private struct Standing {
    let name: String
    let report: Result<SuiteReport, any Error>

    var health: SuiteHealth {
      switch report {
      case .success(let report): report.health
      case .failure(let failure): SuiteHealth(failure)
      }
    }

    var json: JSONValue {
      (try? report.get().json) ?? .object([("suite", .string(name))] + health.json)
    }

    func facts(path: String) -> [(String, String)] {
      (try? report.get().facts(path: path))
        ?? [("suite", name), ("trouble", health.problem?.message ?? "")]
    }
  }

  func perform(in session: SharingSession) throws {
    let all = try names(session).map { standing($0, session) }
    if json {
      try ValueOutput.write(.array(all.map(\.json)))
    } else if check {
      try StandardOutput.write(
        all.compactMap { suite in
          suite.health.problem.map { "\(suite.name): \($0.message) (\($0.code))".visible + "\n" }
        }.joined())
    } else if all.isEmpty {
      session.interface.say("no preferences are shared")
    } else {
      try StandardOutput.write(
        all.map { FactLines.text($0.facts(path: session.path)) }.joined(separator: "\n"))
    }
    if check {
      let code = all.map(\.health.code).reduce(ExitCodes.success, SuiteHealth.worse)
      if code != ExitCodes.success { throw ExitCode(code) }
    } else {
      try session.interface.fail(
        with: all.compactMap { suite in
          guard case .failure(let failure) = suite.report else { return nil }
          return (failure as? PreferencesError)?.naming(suite: suite.name) ?? failure
        })
    }
  }

  private func names(_ session: SharingSession) throws -> [String] {
    guard suites.isEmpty else { return suites }
    let names = try SharingConfiguration.suiteNames()
    // What shares nothing is not in step with anybody.
    if check, names.isEmpty { throw session.nothingShared }
    return names
  }

  /// One suite whose settings or file cannot be used hides no other.
  private func standing(_ name: String, _ session: SharingSession) -> Standing {
    Standing(
      name: name,
      report: Result {
        try SuiteReport(session.suite(name), unsentWithin: unsentWithin, path: session.path)
      })
  }
}
