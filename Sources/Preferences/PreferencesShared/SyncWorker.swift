internal import FoundationEssentials
internal import Glibc
package import PreferencesCore
package import PreferencesDurable
package import PrephirencesEtcd
package import PrephirencesSystem

/// Keeps one file in step with a server, on threads of its own, while it has the lock of the sender.
///
/// Of all workers of a file, in whichever processes, one has the lock; the next takes it when that
/// ends. While the file is not shared, or at another place, it waits without the lock. A worker that
/// is destroyed ends, and so does nothing in a forked child.
package final class SyncWorker: Sendable {
  /// Decides a conflict, on a thread of its own and outside all locks, and perhaps repeatedly.
  package typealias Resolver = @Sendable (ReplicaConflict) throws -> ReplicaDecision

  let core: SyncCore

  /// Where it sends to.
  package var place: String? { core.options.place }

  /// Creates a worker, which does nothing yet.
  ///
  /// `resolver` is `nil` if this process decides none.
  package init(
    replica: SharedReplica, cluster: EtcdConfiguration, prefix: String, resolver: Resolver?,
    options: SyncOptions = SyncOptions()
  ) {
    core = SyncCore(replica, cluster, StoreLayout(prefix: prefix), options, resolver)
  }

  deinit {
    if !core.isForked { core.end() }
  }

  /// Begins in the background, and waits for nothing.
  ///
  /// Call it once.
  package func start() {
    if !core.isForked { core.start() }
  }

  /// Ends, and waits for its threads until the deadline.
  ///
  /// What is unsent stays in the file, and is sent by the next worker.
  package func stop(_ deadline: Deadline) {
    guard !core.isForked else { return }
    core.end()
    core.signals.wait(.seconds(deadline.seconds)) { $0.threads == 0 }
  }

  /// Tries at once what waits for a retry, in whichever process.
  package func wake() {
    if !core.isForked { core.wake() }
  }

  /// Waits until everything that was set before is acknowledged, by whichever process sends.
  package func flush(_ deadline: Deadline, endsWhenRefused: Bool = false) throws(PreferencesError) {
    try reporting { try Flush(core: core, endsWhenRefused: endsWhenRefused).perform(deadline) }
  }

  /// Why this worker does not get on; `nil` if it does, or if another process sends.
  package var failure: PreferencesError? { core.reports.problem.map { PreferencesError($0) } }

  /// Whether one of its threads hangs, in a call that should have ended long ago.
  ///
  /// A thread that waits for the server, the file or another process does not.
  package func isHung(after limit: Duration) -> Bool {
    !core.isForked && core.signals.isHung(after: limit)
  }
}

/// What the threads of a worker tell each other.
final class SyncSignals: Sendable {
  struct State {
    var isStopping = false
    var threads = 0

    /// How often the file, and who has the lock, may have changed, and how often retries were asked
    /// for.
    var fileChanges = 0
    var lockChanges = 0
    var wakes = 0
    /// How often somebody began to wait for acknowledgements.
    var flushes = 0

    /// Whether the session with the server ends.
    var isEnding = false
    var isOver: Bool { isEnding || isStopping }
    var sessionThreads = 0
    /// The revision that the receiver has applied.
    var received: Int64 = 0
    /// Whether the file was compared with everything that the server has, on this connection.
    var isInStep = false
    /// How often everything was asked for again, and which of these requests was answered last.
    var readings = 0
    var lastReading = 0

    /// Since when each thread works without waiting for others, without the time of sleep.
    fileprivate var work: [UInt: SuspendingClock.Instant] = [:]
  }

  private let state = PosixCondition(State())

  func read<Result>(_ body: (State) -> Result) -> Result { state.withLock { body($0) } }

  func change<Result>(_ body: (inout State) -> Result) -> Result { state.change(body) }

  /// Waits until a condition is met, at most so long.
  @discardableResult
  func wait(_ duration: Duration?, until isMet: (State) -> Bool) -> Bool {
    let works = state.withLock { $0.work.removeValue(forKey: Self.thread) != nil }
    defer { if works { advance() } }
    return state.wait(duration) { isMet($0) }
  }

  // MARK: - Progress

  private static var thread: UInt { UInt(pthread_self()) }

  /// This thread gets on: it begins, or has an answer.
  func advance() { state.withLock { $0.work[Self.thread] = .now } }

  /// This thread ends, or waits for what has no limit of time.
  func rest() { state.withLock { $0.work[Self.thread] = nil } }

  /// Whether a thread has neither ended nor got an answer for longer than a limit.
  func isHung(after limit: Duration) -> Bool {
    let now = SuspendingClock.now
    return read { $0.work.values.contains { $0.duration(to: now) > limit } }
  }
}

/// How a worker works; the numbers are others in tests.
package struct SyncOptions: Sendable {
  /// How many removals the server keeps.
  package var greatestRemovals = 10_000
  package var leastBackoff = Duration.milliseconds(100)
  package var greatestBackoff = Duration.seconds(30)
  /// After how long a process without a password tries again.
  package var pauseWithoutPassword = Duration.seconds(120)
  /// How many rows are compared on the connection of the file that the program uses.
  ///
  /// More of them are compared on another one, so that the program's reads don't wait meanwhile.
  package var greatestRowsTogether = 200
  /// Where the worker sends to, as the settings of the file have it; it does nothing while these name
  /// another place.
  package var place: String?
  /// The name that the store has of this machine.
  package var machine = MachineRow.hostName
  /// Called on a thread of the worker when the file is not shared at its place, once for each way in
  /// which it is shared otherwise.
  package var didLoseFile: (@Sendable () -> Void)?
  /// Called on a thread of the worker when it has recorded how the file stands with the server, or with
  /// the reason why it could not.
  package var didReport: (@Sendable (SharingReport, _ unrecorded: PreferencesError?) -> Void)?
  /// Called on a thread of the worker when it has begun, or ended, to send and receive.
  package var didTakeTurn: (@Sendable (Bool) -> Void)?
  package init() {}
}
