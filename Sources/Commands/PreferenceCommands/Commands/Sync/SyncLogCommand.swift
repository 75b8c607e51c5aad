internal import ArgumentParser
internal import PreferencesShared
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Lists who has changed what, and what is unsent.
struct SyncLogCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show who changed what, from which value to which, and what is unsent",
    discussion: """
      etcd knows the changes until it compacts them; the newest is the last. A terminal gets a table, and \
      a pipe a line for each value, whose fields are separated by tabs: revision, time, machine, what \
      happened, key, type and value. '-' is what the key had, and '+' what it got. Then follows \
      what this machine alone knows: 'lost' is a change that was given up for another machine's, \
      'unsent' waits for the network, and 'waits' for something else.

      A machine is called what it calls itself, which proves nothing; the time is that of its clock. \
      'another tool' has changed rows without this program, at no known time. The type is 'unknown' \
      for a value that was compacted, 'damaged' or 'newer' for one that this release cannot read. \
      If etcd cannot be reached, the log is what came to this machine.

      Example:
        \(preferencesPath) sync log com.example.web interval
        \(preferencesPath) sync log com.example.web --last 50 --json
      """)

  @Argument(help: "The suite", completion: .sharedSuites)
  var suite: String

  @Argument(help: "A key, whose changes alone are listed")
  var key: String?

  @Option(help: .init("How many transactions to list", valueName: "number"))
  var last = 20

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  /// How long etcd is waited for before the log is that of this machine.
  private static let patience: Duration = .seconds(10)

  func validate() throws {
    guard last >= 0 else { throw ValidationError(SyncUsageText.lastNegative) }
  }

  func perform(in session: SharingSession) throws {
    let shared = try session.suite(suite)
    var log = ChangeLog(key: key)
    let isShared = try shared.replica.isShared()
    do {
      try log.read(try shared.direct(patience: Self.patience), last: last)
    } catch {
      guard isShared else { throw error }
      session.interface.say("\(error.message); this is what came to this machine")
      try log.readJournal(shared.replica, last: last)
    }
    if isShared { try log.readOwn(shared.replica, last: last) }
    if json { return try ValueOutput.write(log.json) }
    try ValueOutput.write(log.table)
    if let end = log.end { session.interface.say(end) }
  }
}
