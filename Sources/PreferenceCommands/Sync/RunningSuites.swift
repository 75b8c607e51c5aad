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
  private var running: [String: Suite] = [:]

  /// - Parameters:
  ///   - names: The suites; all that are shared if there is none.
  ///   - interface: Where failures are reported.
  init(_ names: [String], _ interface: UserInterface) {
    self.names = names
    self.interface = interface
  }

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
    for (name, settings) in wanted where running[name] == nil {
      running[name] = begin(name, settings)
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
      return .unusable(error.message)
    }
  }
}
