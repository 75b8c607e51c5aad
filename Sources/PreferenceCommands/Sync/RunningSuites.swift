internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesFiles
internal import PrephirencesShared
internal import PrephirencesText

/// The suites that a process keeps in step, as their settings are now.
final class RunningSuites {
  /// What the file of a suite says.
  private enum Settings: Equatable {
    case usable(SharingConfiguration)
    case unusable(String)
  }

  private struct Suite {
    let settings: Settings
    let shared: SharedPreferences
    let failures: PreferenceObservation

    func end(_ deadline: Deadline) {
      failures.cancel()
      shared.worker?.stop(deadline)
    }
  }

  private let names: [String]
  private let session: SharingSession
  private let files: Int
  private var running: [String: Suite] = [:]
  /// The suites that have no place, which was reported.
  private var refused: Set<String> = []

  /// How many files a suite keeps open, and how many all of them share or need for a moment.
  private static let filesOfSuite = 5
  private static let filesOfAll = 64

  /// After how long a thread hangs: every call has a deadline, and none of more than two minutes.
  private static let greatestWork = Duration.seconds(240)

  /// - Parameters:
  ///   - names: The suites; all that are shared if there is none.
  ///   - session: Where failures are reported.
  ///   - files: How many files this process may open.
  init(_ names: [String], _ session: SharingSession, files: Int) {
    self.names = names
    self.session = session
    self.files = files
  }

  var isEmpty: Bool { running.isEmpty }

  /// Whether a thread of one of them hangs, which only a new process mends.
  var isHung: Bool {
    running.values.contains { $0.shared.worker?.isHung(after: Self.greatestWork) ?? false }
  }

  /// How they stand, in one line.
  var status: String {
    guard !running.isEmpty else { return "no suite is shared" }
    let count = running.count + refused.count
    let problems =
      running.sorted { $0.key < $1.key }.compactMap { name, suite in
        health(suite.shared).problem.map { "'\(name)': \($0.message)" }
      } + refused.sorted().map(noPlace)
    guard let first = problems.first else { return "\(Words.counted(count, "suite")) in step" }
    return "\(problems.count) of \(count) in trouble: \(first.visible)"
  }

  private func noPlace(_ name: String) -> String {
    "'\(name)' is not kept in step: this process may open \(files) files, enough for "
      + "\(Words.counted(greatestCount, "suite")); raise LimitNOFILE= of its service, or 'ulimit -n'"
  }

  private func health(_ shared: SharedPreferences) -> SuiteHealth {
    do throws(PreferencesError) {
      return SuiteHealth(
        try SyncStatus.of(shared.replica), unsentWithin: SuiteHealth.unsentLimit,
        path: session.path)
    } catch {
      return SuiteHealth(error)
    }
  }

  /// With more, all of them would fail now and then.
  private var greatestCount: Int { max((files - Self.filesOfAll) / Self.filesOfSuite, 1) }

  /// Begins with suites that are new, ends those that are no longer shared, and begins again with those
  /// whose settings were changed.
  func update() {
    // A folder that cannot be read now ends nothing.
    guard let names = names.isEmpty ? try? SharingConfiguration.suiteNames() : names else { return }
    let wanted = Dictionary(
      names.compactMap { name in settings(name).map { (name, $0) } }
    ) { $1 }
    for (name, suite) in running where wanted[name] != suite.settings {
      suite.end(Deadline(after: .seconds(1)))
      running[name] = nil
    }
    refused.formIntersection(wanted.keys)
    for (name, settings) in wanted.sorted(by: { $0.key < $1.key }) {
      if let suite = running[name] {
        // What could not begin tries again.
        if suite.shared.worker == nil { _ = SharedPreferences(suiteName: name) }
      } else if running.count < greatestCount {
        refused.remove(name)
        running[name] = begin(name, settings)
      } else if refused.insert(name).inserted {
        session.interface.error(noPlace(name))
      }
    }
  }

  func end(_ deadline: Deadline) {
    for suite in running.values { suite.end(deadline) }
    running = [:]
  }

  private func begin(_ name: String, _ settings: Settings) -> Suite {
    let shared = SharedPreferences(suiteName: name)
    let interface = session.interface
    let failures = shared.observeFailures { failure in
      // Sharing was ended, which is found soon.
      if failure.code == .notFound { return }
      interface.error("'\(name)': \(failure.message)")
    }
    return Suite(settings: settings, shared: shared, failures: failures)
  }

  /// Returns what the file of a suite says; `nil` if there is none.
  private func settings(_ name: String) -> Settings? {
    do throws(PreferencesError) {
      return try SharingConfiguration.load(suiteName: name).map(Settings.usable)
    } catch {
      // A file that cannot be read now ends nothing.
      if error.code == .inputOutput, let suite = running[name] { return suite.settings }
      return .unusable(error.message)
    }
  }
}
