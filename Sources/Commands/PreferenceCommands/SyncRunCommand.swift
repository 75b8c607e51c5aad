internal import ArgumentParser
internal import Glibc
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Keeps suites in step until it is ended.
struct SyncRunCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Keep shared preferences in step, until Ctrl-C or SIGTERM",
    discussion: """
      For machines on which programs change shared preferences without sharing them themselves, \
      such as 'write', or end soon. It runs in the foreground. As a service of systemd, it reports \
      when it is ready, its status, and to a watchdog that it makes progress. It follows suites \
      that are shared, changed or removed later, and waits for the first one; if suites are named, \
      it follows only those.

      Example:
        \(preferencesPath) sync run
      """)

  @Argument(help: "The suites; all that are shared if there is none", completion: .sharedSuites)
  var suites: [String] = []

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  /// How long a change of the settings may stay unnoticed.
  private static let pause = Duration.seconds(2)

  /// How long the end waits for running calls.
  private static let timeout: Duration = .seconds(5)

  func perform(in session: SharingSession) throws {
    // Before other threads exist, which would receive the signals.
    let signals = EndingSignals()
    // An unusable one is reported, and the others are kept in step.
    for name in suites { _ = try session.suite(name) }
    let running = RunningSuites(suites, session, files: Self.raisedFileLimit())
    running.update()
    if running.isEmpty {
      session.interface.say(
        "no preferences are shared yet; '\(session.path) add SUITE ADDRESS' shares those of a "
          + "program"
      )
    }
    let notice = ServiceNotice(environment: session.environment)
    notice.send("READY=1")
    let watchdog = notice.watchdogPeriod
    func showLife() {
      // Without signs of life, the manager restarts the service.
      if watchdog != nil, !running.isHung { notice.send("WATCHDOG=1") }
    }
    var (status, nextStatus) = ("", ContinuousClock.now)
    repeat {
      if notice.isWanted, case let begin = ContinuousClock.now, nextStatus <= begin {
        let now = running.status(showLife)
        if now != status { notice.send("STATUS=\(now)") }
        status = now
        // Hundreds of suites are checked less often.
        nextStatus = .now + begin.duration(to: .now) * 20
      }
      showLife()
      running.update()
    } while !signals.wait(min(Self.pause, watchdog.map { $0 / 3 } ?? Self.pause))
    notice.send("STOPPING=1")
    running.end(Deadline(after: Self.timeout))
  }

  /// Raises the limit of open files as far as possible, and returns it: a service starts with 1024.
  private static func raisedFileLimit() -> Int {
    let files = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    var limit = rlimit()
    guard getrlimit(files, &limit) == 0 else { return 1024 }
    let present = limit.rlim_cur
    limit.rlim_cur = limit.rlim_max
    return Int(clamping: setrlimit(files, &limit) == 0 ? limit.rlim_cur : present)
  }
}

struct SyncNowCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "now",
    abstract: "Bring shared preferences in step, and wait for it",
    discussion: """
      Changes that wait for a retry are tried at once. The command ends when all earlier changes \
      of this machine are sent and those of others are here, or with 75 at the end of the time; \
      unsent changes stay, and are sent later. It ends with 81 if one of them may have arrived. It \
      ends at once if a person must fix something (65, 77, 78 or 79), or if the process that sends \
      is stopped (75). Changes of this machine that were given up for those of others are named.

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
    // Start all before waiting for the first.
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
            + Words.names(keys))
      }
    }
    try session.interface.fail(with: failures)
  }
}

/// Lists who has changed what, and what is unsent.
struct SyncLogCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show who changed what, from which value to which, and what is unsent",
    discussion: """
      etcd knows the changes until it compacts them; the newest is the last. A terminal gets a \
      table, and a pipe a line for each value, whose fields are separated by tabs: revision, time, \
      machine, what happened, key, type and value. '-' is the old value, and '+' the new one. Then \
      follows what only this machine knows: 'lost' is a change that was given up for another \
      machine's, 'unsent' waits for the network, and 'waits' for something else.

      The name of a machine is its own, which proves nothing; the time is that of its clock. \
      'another tool' has changed rows without this program, at no known time. The type is \
      'unknown' for a value that was compacted, 'damaged' or 'newer' for one that this release \
      cannot read. If etcd cannot be reached, the log has the changes that came to this machine.

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

  /// How long etcd is awaited before the log has only this machine's changes.
  private static let timeout: Duration = .seconds(10)

  func validate() throws {
    guard last >= 0 else { throw ValidationError(SyncUsageText.lastNegative) }
  }

  func perform(in session: SharingSession) throws {
    let shared = try session.suite(suite)
    var log = ChangeLog(key: key, machine: shared.configuration.machineName)
    let isShared = try shared.replica.isShared()
    do {
      try log.read(try shared.direct(timeout: Self.timeout), last: last)
    } catch {
      guard isShared else { throw error }
      session.interface.say("\(error.message); this log has the changes that came to this machine")
      try log.readJournal(shared.replica, last: last)
    }
    if isShared { try log.readOwn(shared.replica, last: last) }
    if json { return try session.output.write(log.json) }
    try session.output.write(log.table)
    if let end = log.end { session.interface.say(end) }
  }
}

/// Reverts one transaction.
struct SyncRevertCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "revert",
    abstract: "Take back one change of a shared suite, on all machines",
    discussion: """
      It shows what would change, asks, and sets each key that the revision has changed to what it \
      had before: all of them, or none. If one of them was changed again since, nothing is \
      changed, and the command ends with 75 and names the machine. If etcd has compacted the \
      values before, it ends with 44. It ends with 81 if it is not known in time whether it has \
      happened. A revert is a change like any other, which 'revert' can take back.

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
    try session.output.write(
      found.changes.map { ValueDifference($0, of: found).reverted }, as: rehearsal.form ?? .rows)
    if rehearsal.dryRun { return }
    if !yes {
      try session.context.confirm(
        "set \(Words.counted(found.changes.count, "key")) of '\(suite)' back on all machines?")
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
        let author = later.flatMap { LoggedTransaction.all($0, key: key).first }
          .map { $0.author { _ in true } }
        return "'\(key)' by \(author ?? "another tool")"
          + (row.map { " in revision \($0.revision)" } ?? "")
      }
      throw CommandLineError.changedSince(changes, "\(session.path) log \(ShellText.quoted(suite))")
    }
  }
}
