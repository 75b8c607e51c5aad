internal import ArgumentParser
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
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
  private static let timeout: Duration = .seconds(10)

  func validate() throws {
    guard last >= 0 else { throw ValidationError(SyncUsageText.lastNegative) }
  }

  func perform(in session: SharingSession) throws {
    let shared = try session.suite(suite)
    var log = ChangeLog(key: key)
    let isShared = try shared.replica.isShared()
    do {
      try log.read(try shared.direct(timeout: Self.timeout), last: last)
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

/// Takes back one transaction.
struct SyncRevertCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "revert",
    abstract: "Take back one change of a shared suite, on all machines",
    discussion: """
      It shows what would change, asks, and sets each key that the revision has changed to what it had \
      before: all of them, or none. If one of them was changed again since, nothing is changed, and the \
      command ends with 75 and says by whom. If etcd has compacted what was there before, it ends with \
      44. It ends with 81 if it is not known in time whether it has happened. What is taken back is \
      a change like any other, which 'revert' takes back, too.

      Example:
        \(preferencesPath) sync log com.example.web interval
        \(preferencesPath) sync revert com.example.web 1204 --dry-run
        \(preferencesPath) sync revert com.example.web 1204
      """)

  @Argument(help: "The suite", completion: .sharedSuites)
  var suite: String

  @Argument(help: "The revision, as 'log' shows it")
  var revision: Int64

  @Flag(name: .shortAndLong, help: "Don't ask")
  var yes = false

  @OptionGroup var rehearsal: DryRunOptions

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  func perform(in session: SharingSession) throws {
    let shared = try session.suite(suite)
    let store = try shared.direct()
    guard let found = try StoreHistory.transaction(revision, of: store) else {
      throw CommandLineError.revisionUnknown(
        revision, shared.store, "\(session.path) log \(ShellText.quoted(suite))")
    }
    guard found.hasOld else { throw CommandLineError.revisionCompacted(revision) }
    try reporting(store, session) { try store.revert(found, isRehearsal: true) }
    try ValueOutput.write(
      found.changes.map { ValueDifference($0, of: found).reverted }, as: rehearsal.form ?? .rows)
    if rehearsal.dryRun { return }
    if !yes {
      try Confirmation.require(
        "set \(Words.counted(found.changes.count, "key")) of '\(suite)' back on all machines?",
        as: session.context.hostName)
    }
    let copy = SharedCopy(shared) { session.interface.say($0) }
    try copy.changeStore { store in
      try reporting(store, session) { try store.revert(found) }
    }
    session.interface.say("took back revision \(revision) of '\(suite)'")
  }

  /// Reports who has changed keys since.
  private func reporting(
    _ store: DirectStore, _ session: SharingSession, _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch let error as DirectStore.ChangedSince {
      let changes = error.keys.map { key, row in
        let later = row.flatMap { try? StoreHistory.transaction($0.revision, of: store) }
        let author = later.map { LoggedTransaction($0, key: key).author { _ in true } }
        return "'\(key)' by \(author ?? "another tool")"
          + (row.map { " in revision \($0.revision)" } ?? "")
      }
      throw CommandLineError.changedSince(
        changes, "\(session.path) log \(ShellText.quoted(suite))")
    }
  }
}
