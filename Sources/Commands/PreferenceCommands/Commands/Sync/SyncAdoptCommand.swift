internal import ArgumentParser
internal import PreferencesShared
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Takes another store than the one that a suite knew.
struct SyncAdoptCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt",
    abstract: "Share with the store that is at the address now",
    discussion: """
      A machine that finds another store than the one that it knew, or none, sends and deletes nothing: \
      somebody may have set up the cluster anew, or the address may be wrong. This command takes the \
      store that is there, or makes one. Then all is as at the first contact: keys that only this machine \
      has are sent, keys that only the store has come, and keys on both sides are a conflict.

      --dry-run changes nothing. It prints a line for each key with another value on this machine than in \
      the store: 'sent', 'comes', 'lost' if the store's value replaces this machine's, or 'waits' if a \
      program decides; then key, 'here' or 'store', type and value. A key with two values has two lines.

      Example:
        \(preferencesPath) sync adopt com.example.web
      """)

  @Argument(help: "The suite", completion: .sharedSuites)
  var suite: String

  @Flag(name: .shortAndLong, help: "Don't ask")
  var yes = false

  @OptionGroup var rehearsal: DryRunOptions

  @Option(
    help: .init("How long to wait at most (default: 30s)", valueName: "time"),
    transform: WatchCommand.duration)
  var timeout: Duration = .seconds(30)

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  func perform(in session: SharingSession) throws {
    let shared = try session.suite(suite)
    if rehearsal.dryRun || !yes {
      try FirstContact(shared).report(to: session, isAdopted: true, showing: rehearsal.form)
    }
    if rehearsal.dryRun { return }
    if !yes {
      try Confirmation.require(
        "share '\(suite)' with the store that is at \(shared.configuration.address) now?",
        as: session.context.hostName)
    }
    let deadline = Deadline(after: timeout)
    let preferences = SharedPreferences(suiteName: suite)
    try SyncWaiting(shared, preferences).adopt(deadline)
    session.interface.say("'\(suite)' is shared with the store that is there now")
  }
}
