internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesFiles
internal import PrephirencesShared

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
  private let interface: UserInterface
  private let files: Int
  private var running: [String: Suite] = [:]
  /// The suites that have no place, which somebody was told of.
  private var refused: Set<String> = []

  /// How many files a suite keeps open, and how many all of them share or need for a moment.
  private static let filesOfSuite = 5
  private static let filesOfAll = 64

  /// - Parameters:
  ///   - names: The suites; all that are shared if there is none.
  ///   - interface: Where failures are reported.
  ///   - files: How many files this process may open.
  init(_ names: [String], _ interface: UserInterface, files: Int) {
    self.names = names
    self.interface = interface
    self.files = files
  }

  /// With more, all of them would fail now and then.
  private var greatestCount: Int { max((files - Self.filesOfAll) / Self.filesOfSuite, 1) }

  /// Begins with suites that are new, ends those that are no longer shared, and begins anew with those
  /// whose settings are others.
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
    for (name, settings) in wanted.sorted(by: { $0.key < $1.key }) {
      if let suite = running[name] {
        // What could not begin tries again.
        if suite.shared.worker == nil { _ = SharedPreferences(suiteName: name) }
      } else if running.count < greatestCount {
        refused.remove(name)
        running[name] = begin(name, settings)
      } else if refused.insert(name).inserted {
        interface.error(
          "'\(name)' is not kept in step: this process may open \(files) files, enough for "
            + "\(greatestCount) suites; raise LimitNOFILE= of its service, or 'ulimit -n'")
      }
    }
  }

  func end(_ deadline: Deadline) {
    for suite in running.values { suite.end(deadline) }
    running = [:]
  }

  private func begin(_ name: String, _ settings: Settings) -> Suite {
    let shared = SharedPreferences(suiteName: name)
    let interface = interface
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
