internal import ArgumentParser
internal import Glibc
internal import PreferencesCore
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Keeps suites in step until it is ended.
struct SyncRunCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Keep shared preferences in step, until Ctrl-C or SIGTERM",
    discussion: """
      For machines on which programs change shared preferences without sharing them themselves, such as \
      'write', or end soon. It runs in the foreground, as a service of systemd does, which it tells \
      when it is ready, how it stands, and as long as it gets on, if its watchdog wants to know that. It \
      follows suites that are shared, changed or removed later, and waits for the first one; if suites \
      are named, it follows only those.

      Example:
        \(preferencesPath) sync run
      """)

  @Argument(help: "The suites; all that are shared if there is none", completion: .sharedSuites)
  var suites: [String] = []

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  /// How long a change of the settings may stay unnoticed.
  private static let pause = Duration.seconds(2)

  /// How long the end waits for calls that are on their way.
  private static let timeout: Duration = .seconds(5)

  func perform(in session: SharingSession) throws {
    // Before there are other threads, which would get the signals.
    let signals = EndingSignals()
    // One that cannot be used is reported, and the others are kept in step.
    for name in suites { _ = try session.suite(name) }
    let running = RunningSuites(suites, session, files: Self.raisedFileLimit())
    running.update()
    if running.isEmpty {
      session.interface.say(
        "no preferences are shared yet; '\(session.path) add SUITE ADDRESS' shares those of a program"
      )
    }
    ServiceNotice.send("READY=1")
    let watchdog = ServiceNotice.watchdogPeriod
    func showLife() {
      // A manager that hears nothing starts the service again.
      if watchdog != nil, !running.isHung { ServiceNotice.send("WATCHDOG=1") }
    }
    var (status, nextStatus) = ("", ContinuousClock.now)
    repeat {
      if ServiceNotice.isWanted, case let begin = ContinuousClock.now, nextStatus <= begin {
        let now = running.status(showLife)
        if now != status { ServiceNotice.send("STATUS=\(now)") }
        status = now
        // Hundreds of suites are looked at less often.
        nextStatus = .now + begin.duration(to: .now) * 20
      }
      showLife()
      running.update()
    } while !signals.wait(min(Self.pause, watchdog.map { $0 / 3 } ?? Self.pause))
    ServiceNotice.send("STOPPING=1")
    running.end(Deadline(after: Self.timeout))
  }

  /// Lets this process open as many files as it may, and returns their number: a service begins with
  /// 1024.
  private static func raisedFileLimit() -> Int {
    let files = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    var limit = rlimit()
    guard getrlimit(files, &limit) == 0 else { return 1024 }
    let present = limit.rlim_cur
    limit.rlim_cur = limit.rlim_max
    return Int(clamping: setrlimit(files, &limit) == 0 ? limit.rlim_cur : present)
  }
}

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
