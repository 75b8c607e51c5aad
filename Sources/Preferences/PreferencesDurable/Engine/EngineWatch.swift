internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem
internal import Synchronization
internal import SystemPackage

/// The thread that notices the changes of other processes, while there are observers and shortly
/// after.
///
/// If the kernel's notifications end, it starts them again. If that is impossible, it reports that
/// once, and later uses of the preferences try again.
///
/// Unchecked because the lock guards the properties.
final class EngineWatch: @unchecked Sendable {
  private let lock = PosixMutex()
  private var watch: FileWatch?

  /// Where failures are reported: an element for each observation.
  private var reporters: [Failures] = []

  /// When a broken watch was last restarted.
  private var lastTry = ContinuousClock.now

  private let broken = Atomic(false)

  /// Whether there are observers without a watch.
  var isBroken: Bool { broken.load(ordering: .relaxed) }

  func begin(_ engine: Engine, reportingTo failures: Failures) throws(PreferencesError) {
    try lock.withLock { () throws(PreferencesError) in
      if watch == nil { try start(engine) }
      reporters.append(failures)
    }
  }

  func end(reportingTo failures: Failures) {
    let isIdle = lock.withLock {
      if let index = reporters.firstIndex(where: { $0 === failures }) {
        reporters.remove(at: index)
      }
      guard reporters.isEmpty else { return false }
      broken.store(false, ordering: .relaxed)
      return watch != nil
    }
    if isIdle { IdleWatches.shared.keep(self) }
  }

  /// Ends the watch unless somebody observes again.
  fileprivate func endIfIdle() {
    let ended: FileWatch? = lock.withLock {
      guard reporters.isEmpty else { return nil }
      defer { watch = nil }
      return watch
    }
    ended?.cancel()
  }

  /// Tries to watch again, once a second at most.
  func mend(_ engine: Engine) {
    lock.withLock {
      guard isBroken, lastTry.duration(to: .now) >= .seconds(1) else { return }
      lastTry = .now
      try? start(engine)
    }
  }

  // MARK: - Thread

  /// Starts watching; the caller holds the lock.
  private func start(_ engine: Engine) throws(PreferencesError) {
    let file = engine.file
    do throws(Errno) {
      let started = try FileWatch(noticesEachWrite: true) { file.lockPath }
      try DetachedThread.start(named: "preferences") { [self, weak engine] in
        defer { started.close() }
        var (event, hasWorked) = (FileWatch.Event.changed, false)
        var failure: PreferencesError?
        // The first check is for earlier changes.
        while event == .changed {
          do {
            guard let engine else { return }
            look(engine, &failure)
          }
          // On a network, poll for the changes of other machines.
          event = started.wait(file.isOnNetwork ? 1000 : -1)
          hasWorked = hasWorked || event == .changed
        }
        guard case .failed(let error) = event, let engine else { return }
        didEnd(started, .unwatchable(error, file.lockPath), engine, startsAgain: hasWorked)
      }
      watch = started
      broken.store(false, ordering: .relaxed)
    } catch {
      throw .unwatchable(error, file.lockPath)
    }
  }

  private func didEnd(
    _ ended: FileWatch, _ error: PreferencesError, _ engine: Engine, startsAgain: Bool
  ) {
    let failure: PreferencesError? = lock.withLock {
      guard watch === ended else { return nil }
      watch = nil
      guard !reporters.isEmpty else { return nil }
      do throws(PreferencesError) {
        // A watch that fails at once would do so repeatedly.
        guard startsAgain else { throw error }
        try start(engine)
        return nil
      } catch {
        lastTry = .now
        broken.store(true, ordering: .relaxed)
        return error
      }
    }
    if let failure { report(failure) }
  }

  /// Learns what has changed, and reports a failure unless the last check had the same.
  private func look(_ engine: Engine, _ last: inout PreferencesError?) {
    // A new observer checks first.
    guard !lock.withLock({ reporters.isEmpty }) else { return }
    var failure: PreferencesError?
    // Without another check, a missed change would be reported with the next one.
    for _ in 0..<5 {
      do {
        try engine.refresh()
        failure = nil
        break
      } catch {
        failure = error as? PreferencesError
        guard failure?.code == .timedOut else { break }
      }
    }
    defer { last = failure }
    if let failure, failure.code != last?.code { report(failure) }
    let damage = try? engine.locked {
      defer { engine.damage = [] }
      return engine.damage
    }
    for failure in damage ?? [] { report(failure) }
  }

  private func report(_ error: PreferencesError) {
    var reported: Set<ObjectIdentifier> = []
    for failures in lock.withLock({ reporters })
    where reported.insert(ObjectIdentifier(failures)).inserted {
      failures.record(error)
    }
  }
}

/// The watches without observers: ending one takes the kernel milliseconds, so repeated
/// observations reuse it.
///
/// Unchecked because the lock guards the properties.
private final class IdleWatches: @unchecked Sendable {
  static let shared = IdleWatches()

  private let lock = PosixMutex()
  private var watches: [(watch: EngineWatch, end: ContinuousClock.Instant)] = []
  private var hasThread = false

  private static let time: Duration = .seconds(1)

  /// The kernel limits a user's notifications.
  private static let greatestCount = 8

  /// Ends a watch after a moment.
  func keep(_ watch: EngineWatch) {
    let (ended, needsThread) = lock.withLock {
      watches.removeAll { $0.watch === watch }
      watches.append((watch, .now + Self.time))
      defer { hasThread = true }
      return (watches.count > Self.greatestCount ? watches.removeFirst().watch : nil, !hasThread)
    }
    ended?.endIfIdle()
    guard needsThread else { return }
    do throws(Errno) {
      try DetachedThread.start(named: "prefs-idle") { self.run() }
    } catch {
      lock.withLock { hasThread = false }
      endWatches(until: .now + Self.time)
    }
  }

  private func run() {
    while let end = next() {
      usleep(
        UInt32(clamping: Int(max(.zero, ContinuousClock.now.duration(to: end)) / .microseconds(1))))
      endWatches(until: .now)
    }
  }

  /// When the next watch ends, or `nil` if there is none, and the thread ends.
  private func next() -> ContinuousClock.Instant? {
    lock.withLock {
      hasThread = !watches.isEmpty
      return watches.first?.end
    }
  }

  private func endWatches(until time: ContinuousClock.Instant) {
    let ended = lock.withLock {
      defer { watches.removeAll { $0.end <= time } }
      return watches.filter { $0.end <= time }
    }
    for (watch, _) in ended { watch.endIfIdle() }
  }
}

extension PreferencesError {
  fileprivate static func unwatchable(_ error: Errno, _ path: String) -> Self {
    // The kernel reports this like a full disk.
    guard error == .noSpace || error == .tooManyOpenFiles else {
      return Self(.failed(error, "watch", path))
    }
    return Self(
      .inputOutput,
      "this user watches too many files; raise fs.inotify.max_user_watches and "
        + "fs.inotify.max_user_instances with sysctl: \(path)", systemCode: error.rawValue)
  }
}
