internal import ArgumentParser
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
      when it is ready. A suite that is shared later needs another start.

      Example:
        \(preferencesPath) sync run
      """)

  @Argument(help: "The suites; all that are shared if there is none", completion: .sharedSuites)
  var suites: [String] = []

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  /// How long the end waits for calls that are on their way.
  private static let patience: Duration = .seconds(5)

  func perform(in session: SharingSession) throws {
    // Before there are other threads, which would get the signals.
    let signals = EndingSignals()
    let interface = session.interface
    let running = try session.someSuites(suites).map { suite in
      let shared = SharedPreferences(suiteName: suite.name)
      let failures = shared.observeFailures { failure in
        interface.error("'\(suite.name)': \(failure.message)")
      }
      return (shared, failures)
    }
    ServiceNotice.send("READY=1")
    signals.wait()
    ServiceNotice.send("STOPPING=1")
    let deadline = Deadline(after: Self.patience)
    for (shared, failures) in running {
      failures.cancel()
      shared.worker?.stop(deadline)
    }
  }
}
