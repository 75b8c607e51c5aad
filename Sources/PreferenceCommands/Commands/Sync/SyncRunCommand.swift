internal import ArgumentParser
internal import Glibc
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesFiles
internal import PrephirencesShared

/// Keeps suites in step until it is ended.
struct SyncRunCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Keep shared preferences in step, until Ctrl-C or SIGTERM",
    discussion: """
      For machines on which programs change shared preferences without sharing them themselves, such as \
      'write', or end soon. It runs in the foreground, as a service of systemd does, which it tells \
      when it is ready. It follows suites that are shared, changed or removed later; if suites are \
      named, only those.

      Example:
        \(preferencesPath) sync run
      """)

  @Argument(help: "The suites; all that are shared if there is none", completion: .sharedSuites)
  var suites: [String] = []

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  /// How long a change of the settings may stay unnoticed.
  private static let secondsBetweenLooks = 2

  /// How long the end waits for calls that are on their way.
  private static let patience: Duration = .seconds(5)

  func perform(in session: SharingSession) throws {
    // Before there are other threads, which would get the signals.
    let signals = EndingSignals()
    _ = try session.someSuites(suites)
    let running = RunningSuites(suites, session.interface, files: Self.raisedFileLimit())
    running.update()
    ServiceNotice.send("READY=1")
    while !signals.wait(seconds: Self.secondsBetweenLooks) { running.update() }
    ServiceNotice.send("STOPPING=1")
    running.end(Deadline(after: Self.patience))
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
