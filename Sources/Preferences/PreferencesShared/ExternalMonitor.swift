internal import Dispatch
internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesSystem
internal import Synchronization
internal import SystemPackage

/// Notices changes of other machines and failures in the background, on its own thread while there
/// are observers; any process of this machine may be the one that receives.
final class ExternalMonitor: Sendable {
  typealias ChangeHandler = @Sendable (SharedPreferences.ExternalChange) -> Void
  typealias FailureHandler = @Sendable (PreferencesError) -> Void

  let replica: SharedReplica
  let state = PosixMutex(State())

  struct State {
    /// Whether the file is shared.
    var isActive = false
    /// Whether this process sends and receives: then it reports all failures itself.
    var isSender = false
    var changes: [Int: ChangeHandler] = [:]
    var failures: [Int: FailureHandler] = [:]
    var lastNumber = 0
    var run: MonitorRun?
    var failure: PreferencesError?
    var known: Set<SharedPreferences.Waiting> = []

    var isWanted: Bool { isActive && !(changes.isEmpty && failures.isEmpty) }
  }

  init(_ replica: SharedReplica) { self.replica = replica }

  // MARK: - Observers

  func observeChanges(_ handler: @escaping ChangeHandler) -> PreferenceObservation {
    observe {
      $0.changes[$1] = handler
    } removing: {
      _ = $0.changes.removeValue(forKey: $1)
    }
  }

  /// Reports the present failure at once; `problem` is why the file is not shared.
  func observeFailures(
    _ handler: @escaping FailureHandler, problem: PreferencesError?
  ) -> PreferenceObservation {
    let present = state.withLock { state in
      // A failure that was found for earlier observers may be over.
      if state.failures.isEmpty { (state.failure, state.known) = (problem, []) }
      return problem ?? state.failure
    }
    if let present { handler(present) }
    return observe {
      $0.failures[$1] = handler
    } removing: {
      _ = $0.failures.removeValue(forKey: $1)
    }
  }

  private func observe(
    _ add: (inout State, Int) -> Void,
    removing remove: @escaping @Sendable (inout State, Int) -> Void
  ) -> PreferenceObservation {
    let number = state.withLock { state in
      state.lastNumber += 1
      add(&state, state.lastNumber)
      return state.lastNumber
    }
    update()
    // The thread may be waiting for signals alone; this starts its periodic checks.
    look()
    return PreferenceObservation { [weak self] in
      guard let self else { return }
      state.withLock { remove(&$0, number) }
      update()
    }
  }

  /// Records that the file is shared.
  func begin() {
    state.withLock { $0.isActive = true }
    update()
  }

  func end() {
    state.withLock { $0.isActive = false }
    update()
  }

  /// Reports a failure unless it equals the last one.
  func report(_ failure: PreferencesError) {
    let handlers = state.withLock { state in
      defer { state.failure = failure }
      return state.failure?.code == failure.code ? [] : Array(state.failures.values)
    }
    for handler in handlers { handler(failure) }
  }

  /// Makes the thread check now.
  func look() { state.withLock(\.run)?.signal() }

  /// How often to look for failures; another process records them without changing a value, so no
  /// signal arrives.
  private var period: DispatchTimeInterval? {
    state.withLock { $0.failures.isEmpty || $0.isSender ? nil : .seconds(2) }
  }

  /// Records that this process has begun or ended to send and receive.
  func isSender(_ isSender: Bool) {
    state.withLock { $0.isSender = isSender }
    look()
  }

  // MARK: - Thread

  /// Starts or stops the thread; the file is not read under the lock, because that can call
  /// observers.
  private func update() {
    var ended = state.withLock { $0.isWanted ? nil : $0.run.take() }
    if state.withLock({ $0.isWanted && $0.run == nil }) {
      do {
        let run = try start()
        ended = state.withLock { state in
          guard state.isWanted, state.run == nil else { return run }
          state.run = run
          return nil
        }
      } catch {
        report(.converting(error, "changes of other machines cannot be noticed"))
      }
    }
    ended?.end()
  }

  /// Starts the thread; earlier changes are not reported.
  private func start() throws -> MonitorRun {
    let run = MonitorRun(after: try replica.lastFeedEntry())
    let path = try replica.filePath()
    do throws(Errno) {
      let observation = try FolderWatch.observe(path) { changes in
        if changes.contains(.file) { run.signal() }
      }
      run.observation.withLock { $0 = observation }
      try DetachedThread.start(named: "prefs-changes") { [weak self] in
        while !run.isEnded.load(ordering: .sequentiallyConsistent) {
          run.wait(self?.period)
          run.isSignalled.store(false, ordering: .sequentiallyConsistent)
          guard !run.isEnded.load(ordering: .sequentiallyConsistent) else { return }
          self?.look(run)
        }
      }
    } catch {
      run.end()
      throw PreferencesError(
        .inputOutput, SyncProblem.noThread(error).message, systemCode: error.rawValue)
    }
    // Look for changes since `start` has read the file.
    run.signal()
    return run
  }
}

extension ExternalMonitor {
  func look(_ run: MonitorRun) {
    do {
      for change in try newChanges(run) {
        for handler in state.withLock({ Array($0.changes.values) }) { handler(change) }
      }
      guard state.withLock({ !$0.failures.isEmpty }) else { return }
      try lookForFailures()
    } catch {
      report(.converting(error, "changes of other machines cannot be read"))
    }
  }

  private func newChanges(_ run: MonitorRun) throws -> [SharedPreferences.ExternalChange] {
    let last = run.lastEntry.load(ordering: .relaxed)
    if let entries = try replica.changeFeed(after: last) {
      run.lastEntry.store(entries.last?.number ?? last, ordering: .relaxed)
      var changes = GroupedChanges()
      changes.add(entries)
      return changes.all
    }
    // There are so many that the oldest are forgotten: any key may be among them.
    let newest = try replica.lastFeedEntry()
    // A smaller number means that the change feed was started again.
    let losses = try replica.losses(after: newest < last ? 0 : last)
    run.lastEntry.store(newest, ordering: .relaxed)
    var changes = GroupedChanges()
    changes.add(losses)
    let keys = replica.preferences.pairs().map(\.0)
    return changes.all
      + [SharedPreferences.ExternalChange(reason: .serverChange, keys: keys, lostValues: [])]
  }

  private func lookForFailures() throws {
    let present = try replica.state()
    if let failure = present.report.flatMap(PreferencesError.init) {
      report(failure)
    } else {
      state.withLock { $0.failure = nil }
    }
    let conflicts = present.unsentKeys > 0 ? try replica.conflicts() : []
    // A change that waits for a closure without having failed is not a failure.
    let waiting = SharedPreferences.Waiting.all(present, conflicts.filter { $0.message != nil })
    let (new, handlers) = state.withLock { state in
      defer { state.known = Set(waiting) }
      return (waiting.filter { !state.known.contains($0) }, Array(state.failures.values))
    }
    for failure in new.map(PreferencesError.init) {
      for handler in handlers { handler(failure) }
    }
  }
}

extension PreferencesError {
  /// The failure because of which changes wait.
  init(_ waiting: SharedPreferences.Waiting) {
    let code: Code =
      switch waiting.reason {
      case .decision: .conflict
      case .permission: .accessDenied
      case .newerRelease: .unsupportedFormat
      case .damage: .damaged
      case .size, .space: .overQuota
      }
    let keys = waiting.keys.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
    let more = waiting.keys.count > 3 ? " and \(waiting.keys.count - 3) more" : ""
    self.init(
      code, "changes of \(keys)\(more) are not sent: \(waiting.message ?? "they wait")")
  }
}

/// A thread, and how far it has read the change feed.
final class MonitorRun: Sendable {
  let signals = DispatchSemaphore(value: 0)
  let isEnded = Atomic(false)
  let isSignalled = Atomic(false)
  let lastEntry: Atomic<Int64>
  let observation = PosixMutex<PreferenceObservation?>(nil)

  init(after entry: Int64) { lastEntry = Atomic(entry) }

  /// Signals the thread; several signals before a check count as one, so only a writer's first
  /// costs time.
  func signal() {
    guard !isSignalled.exchange(true, ordering: .sequentiallyConsistent) else { return }
    signals.signal()
  }

  /// Waits for a signal, or until the period is over if there is one.
  func wait(_ period: DispatchTimeInterval?) {
    _ = signals.wait(timeout: period.map { .now() + $0 } ?? .distantFuture)
  }

  func end() {
    isEnded.store(true, ordering: .sequentiallyConsistent)
    observation.withLock { $0.take() }?.cancel()
    signals.signal()
  }
}
