internal import ArgumentParser
internal import PreferencesShared
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Brings suites in step at once.
struct SyncNowCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "now",
    abstract: "Bring shared preferences in step, and wait for it",
    discussion: """
      What waits for a retry is tried at once. The command ends when everything that was changed before \
      is sent and everything that others had changed is here, or with 75 at the end of the time; changes \
      that are not sent then stay, and are sent later. It ends with 81 if one of them may have arrived. It \
      ends at once if a person must mend something (65, 77, 78 or 79), or if the process that sends is \
      stopped (75). Changes of this machine that were given up for those of others are named.

      Example:
        \(preferencesPath) sync now --timeout 10s
      """)

  @Argument(help: "The suites; all that are shared if there is none", completion: .sharedSuites)
  var suites: [String] = []

  @Option(
    help: .init("How long to wait at most (default: 30s)", valueName: "time"),
    transform: WatchCommand.duration)
  var timeout: Duration = .seconds(30)

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  func perform(in session: SharingSession) throws {
    let deadline = Deadline(after: timeout)
    let found = try session.suites(suites)
    guard !found.usable.isEmpty || !found.failures.isEmpty else { throw session.nothingShared }
    // All begin before one is waited for.
    let all = found.usable.map { suite in
      (suite, LostChanges(suite.replica), SharedPreferences(suiteName: suite.name))
    }
    var failures = found.failures
    for (suite, lost, shared) in all {
      do {
        try SyncWaiting(suite, shared).bringInStep(deadline)
        session.interface.say("'\(suite.name)' is in step")
      } catch {
        failures.append(error)
      }
      let keys = lost.keys
      if !keys.isEmpty {
        session.interface.say(
          "'\(suite.name)': changes of this machine were given up for those of others: "
            + LostChanges.names(keys))
      }
    }
    try session.interface.fail(with: failures)
  }
}
