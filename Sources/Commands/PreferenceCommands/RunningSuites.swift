internal import Glibc
internal import PreferencesCore
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The suites that a process keeps in step, with their present settings.
final class RunningSuites {
  /// The settings in a suite's file.
  private enum Settings: Equatable {
    case usable(SharingConfiguration)
    case unusable(String)
  }

  private struct Suite {
    let name: String
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
  /// By the bytes of their names: two that look the same can differ.
  private var running: [[UInt8]: Suite] = [:]
  /// The suites that were refused for lack of files, as reported.
  private var refused: [[UInt8]: String] = [:]

  /// How many files a suite keeps open, and how many all of them share or need briefly.
  private static let filesOfSuite = 5
  private static let filesOfAll = 64

  /// A thread hangs after this time: every call has a deadline of at most two minutes.
  private static let greatestWork = Duration.seconds(240)

  /// Without names, these are all shared suites; `files` is how many this process may open.
  init(_ names: [String], _ session: SharingSession, files: Int) {
    self.names = names
    self.session = session
    self.files = files
  }

  var isEmpty: Bool { running.isEmpty }

  /// Whether a thread of one hangs; only a new process helps.
  var isHung: Bool {
    running.values.contains { $0.shared.worker?.isHung(after: Self.greatestWork) ?? false }
  }

  /// Returns the status of all.
  func status(_ progress: () -> Void) -> String {
    guard !running.isEmpty else { return "no suite is shared" }
    let count = running.count + refused.count
    let problems =
      running.values.sorted { $0.name < $1.name }.compactMap { suite in
        defer { progress() }
        return health(suite.shared).problem.map { "'\(suite.name)': \($0.message)" }
      } + refused.values.sorted().map(noPlace)
    guard let first = problems.first else { return "\(Words.counted(count, "suite")) in step" }
    return "\(problems.count) of \(count) in trouble: \(first.visible)"
  }

  private func noPlace(_ name: String) -> String {
    "'\(name)' is not kept in step: this process may open \(files) files, enough for "
      + "\(Words.counted(greatestCount, "suite")); raise LimitNOFILE= of its service, or "
      + "'ulimit -n'"
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

  /// With more, all of them would fail occasionally.
  private var greatestCount: Int { max((files - Self.filesOfAll) / Self.filesOfSuite, 1) }

  /// Starts new suites, stops those that are no longer shared, and restarts those with changed
  /// settings.
  func update() {
    // A folder that is temporarily unreadable stops nothing.
    guard let names = names.isEmpty ? try? SharingConfiguration.suiteNames() : names else { return }
    let wanted = Dictionary(
      names.compactMap { name in settings(name).map { (Array(name.utf8), (name, $0)) } }
    ) { $1 }
    for (bytes, suite) in running where wanted[bytes]?.1 != suite.settings {
      suite.end(Deadline(after: .seconds(1)))
      running[bytes] = nil
    }
    refused = refused.filter { wanted[$0.key] != nil }
    for (bytes, (name, settings)) in wanted.sorted(by: { $0.value.0 < $1.value.0 }) {
      if let suite = running[bytes] {
        // A suite that could not start tries again.
        if suite.shared.worker == nil { _ = SharedPreferences(suiteName: name) }
      } else if running.count < greatestCount {
        refused[bytes] = nil
        running[bytes] = begin(name, settings)
      } else if refused.updateValue(name, forKey: bytes) == nil {
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
      // Sharing was ended, which the next update finds.
      if failure.code == .notFound { return }
      interface.error("'\(name)': \(failure.message)")
    }
    return Suite(name: name, settings: settings, shared: shared, failures: failures)
  }

  /// Returns the settings in a suite's file, or `nil` if there is none.
  private func settings(_ name: String) -> Settings? {
    do throws(PreferencesError) {
      return try SharingConfiguration.load(suiteName: name).map(Settings.usable)
    } catch {
      // A file that is temporarily unreadable stops nothing.
      if error.code == .inputOutput, let suite = running[Array(name.utf8)] { return suite.settings }
      return .unusable(error.message)
    }
  }
}

/// The signals that end a command.
struct EndingSignals {
  private var set = sigset_t()

  /// Holds the signals back in this thread, and in those that it starts.
  init() {
    sigemptyset(&set)
    for number in [SIGTERM, SIGINT, SIGHUP] where !Self.isIgnored(number) {
      sigaddset(&set, number)
    }
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Returns `true` if one has arrived, or `false` after a time.
  func wait(_ duration: Duration) -> Bool {
    var set = set
    let (seconds, attoseconds) = duration.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    while sigtimedwait(&set, nil, &time) < 0 {
      if errno == EAGAIN { return false }
    }
    return true
  }

  /// `nohup` and shells ignore some deliberately.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    // The handler is a function or a small number.
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

/// Notifies the service manager that has started this process of its state.
struct ServiceNotice {
  let environment: EnvironmentVariables

  /// How often the manager expects a sign of life, or `nil` if never.
  var watchdogPeriod: Duration? {
    guard let microseconds = environment.text("WATCHDOG_USEC").flatMap(Int64.init),
      microseconds > 0
    else { return nil }
    if let process = environment.text("WATCHDOG_PID"), pid_t(process) != getpid() { return nil }
    return .microseconds(microseconds)
  }

  var isWanted: Bool { environment.text("NOTIFY_SOCKET") != nil }

  /// Sends a line of systemd's notification protocol, if somebody asked for it.
  func send(_ text: String) {
    guard let path = environment.text("NOTIFY_SOCKET") else { return }
    var bytes = Array(path.utf8)
    var address = sockaddr_un()
    let isAbstract = bytes.first == UInt8(ascii: "@")
    guard isAbstract || bytes.first == UInt8(ascii: "/"),
      bytes.count < MemoryLayout.size(ofValue: address.sun_path)
    else { return }
    if isAbstract { bytes[0] = 0 }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return }
    defer { close(socket) }
    let size = MemoryLayout.offset(of: \sockaddr_un.sun_path).map { $0 + bytes.count } ?? 0
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = sendto(
          socket, text, text.utf8.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), address,
          socklen_t(size))
      }
    }
  }
}
