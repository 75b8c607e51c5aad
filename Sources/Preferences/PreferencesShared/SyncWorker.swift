internal import FoundationEssentials
internal import Glibc
package import PreferencesCore
package import PreferencesDurable
package import PrephirencesEtcd
package import PrephirencesSystem

/// Keeps one file in step with a server, on its own threads, while it holds the lock of the sender.
///
/// Of all workers of a file, in all processes, one holds the lock. When it ends, the next one takes
/// it. While the file is not shared, or shared elsewhere, the worker waits without the lock.
/// Destroying a worker stops it. In a forked child it does nothing.
package final class SyncWorker: Sendable {
  /// Decides a conflict; it is called on its own thread, outside all locks, perhaps repeatedly.
  package typealias Resolver = @Sendable (ReplicaConflict) throws -> ReplicaDecision

  let core: SyncCore

  /// Where it sends to.
  package var place: String? { core.options.place }

  /// Creates a worker, which does nothing yet.
  ///
  /// `resolver` is `nil` if this process decides no conflicts.
  package init(
    replica: SharedReplica, cluster: EtcdConfiguration, prefix: String, resolver: Resolver?,
    options: SyncOptions = SyncOptions()
  ) {
    core = SyncCore(replica, cluster, StoreLayout(prefix: prefix), options, resolver)
  }

  deinit {
    if !core.isForked { core.end() }
  }

  /// Starts in the background, without waiting; call it once.
  package func start() {
    if !core.isForked { core.start() }
  }

  /// Stops, and waits for its threads until the deadline.
  ///
  /// Unsent changes stay in the file; the next worker sends them.
  package func stop(_ deadline: Deadline) {
    guard !core.isForked else { return }
    core.end()
    core.signals.wait(.seconds(deadline.seconds)) { $0.threads == 0 }
  }

  /// Retries now, in any process.
  package func wake() {
    if !core.isForked { core.wake() }
  }

  /// Waits until everything that was set before is acknowledged, by any sending process.
  package func flush(_ deadline: Deadline, endsWhenRefused: Bool = false) throws(PreferencesError) {
    try reporting { try Flush(core: core, endsWhenRefused: endsWhenRefused).perform(deadline) }
  }

  /// Why this worker makes no progress; `nil` if it does, or if another process sends.
  package var failure: PreferencesError? { core.reports.problem.map { PreferencesError($0) } }

  /// Whether a thread hangs in a call that should have ended long ago.
  ///
  /// A thread that waits for the server, the file or another process does not hang.
  package func isHung(after limit: Duration) -> Bool {
    !core.isForked && core.signals.isHung(after: limit)
  }
}

/// What the threads of a worker signal to each other.
final class SyncSignals: Sendable {
  struct State {
    var isStopping = false
    var threads = 0

    /// How often the file, and the holder of the lock, may have changed, and how often a retry was
    /// requested.
    var fileChanges = 0
    var lockChanges = 0
    var wakes = 0
    /// How often somebody began to wait for acknowledgements.
    var flushes = 0

    /// Whether the session with the server ends.
    var isEnding = false
    var isOver: Bool { isEnding || isStopping }
    var sessionThreads = 0
    /// The last revision that the receiver has applied.
    var received: Int64 = 0
    /// Whether the file was compared with everything on the server, over this connection.
    var isInStep = false
    /// How often a full read was requested, and the last request that was answered.
    var readings = 0
    var lastReading = 0

    /// When each thread last made progress, on a clock that stops while the machine sleeps.
    fileprivate var work: [UInt: SuspendingClock.Instant] = [:]
  }

  private let state = PosixCondition(State())

  func read<Result>(_ body: (State) -> Result) -> Result { state.withLock { body($0) } }

  func change<Result>(_ body: (inout State) -> Result) -> Result { state.change(body) }

  /// Waits until a condition is met, or for the given time.
  @discardableResult
  func wait(_ duration: Duration?, until isMet: (State) -> Bool) -> Bool {
    let works = state.withLock { $0.work.removeValue(forKey: Self.thread) != nil }
    defer { if works { advance() } }
    return state.wait(duration) { isMet($0) }
  }

  // MARK: - Progress

  private static var thread: UInt { UInt(pthread_self()) }

  /// Records that this thread makes progress: it starts, or has an answer.
  func advance() { state.withLock { $0.work[Self.thread] = .now } }

  /// Records that this thread ends, or waits without a limit.
  func rest() { state.withLock { $0.work[Self.thread] = nil } }

  /// Whether a thread has made no progress for longer than the limit.
  func isHung(after limit: Duration) -> Bool {
    let now = SuspendingClock.now
    return read { $0.work.values.contains { $0.duration(to: now) > limit } }
  }
}

/// How a worker behaves; tests change the numbers.
package struct SyncOptions: Sendable {
  /// How many removals the server keeps.
  package var greatestRemovals = 10_000
  package var leastBackoff = Duration.milliseconds(100)
  package var greatestBackoff = Duration.seconds(30)
  /// The time after which a process without a password tries again.
  package var pauseWithoutPassword = Duration.seconds(120)
  /// How many rows are compared on the program's own connection of the file.
  ///
  /// More rows are compared on a separate connection, so that the program's reads don't wait.
  package var greatestRowsTogether = 200
  /// Where the worker sends to, as in the settings of the file; it does nothing while these name
  /// another place.
  package var place: String?
  package var machine = MachineRow.hostName
  /// Called on a thread of the worker when the file is no longer shared at its place, once for each
  /// other place.
  package var didLoseFile: (@Sendable () -> Void)?
  /// Called on a thread of the worker when it has recorded a report, or with the reason why it
  /// could not.
  package var didReport: (@Sendable (SharingReport, _ unrecorded: PreferencesError?) -> Void)?
  /// Called on a thread of the worker when it has started, or stopped, sending and receiving.
  package var didTakeTurn: (@Sendable (Bool) -> Void)?
  package init() {}
}
