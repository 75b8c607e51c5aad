internal import FoundationEssentials
internal import Glibc
internal import PreferencesCore
internal import PreferencesDurable
internal import PrephirencesEtcd
internal import PrephirencesSystem
internal import SystemPackage

/// The threads of a worker.
///
/// | thread | lives | does |
/// | --- | --- | --- |
/// | `prefs-sync` | always | waits for the lock, then sends |
/// | `prefs-receive` | with the lock | receives |
/// | `prefs-decide` | with a resolver | asks it for decisions |
///
/// The workers of all files in a folder share `prefs-files`, which notices changes of the files.
/// Workers that watch the same cluster share `prefs-watch`.
final class SyncCore: Sendable {
  let replica: SharedReplica
  let client: EtcdClient
  let layout: StoreLayout
  let options: SyncOptions
  let signals = SyncSignals()
  let reports: SyncReports
  let process = getpid()

  private let resolver: SyncWorker.Resolver?

  struct Ends {
    var session: SyncSession?
    var observation: PreferenceObservation?
  }

  let ends = PosixMutex(Ends())

  init(
    _ replica: SharedReplica, _ cluster: EtcdConfiguration, _ layout: StoreLayout,
    _ options: SyncOptions, _ resolver: SyncWorker.Resolver?
  ) {
    self.replica = replica
    client = .shared(cluster)
    self.layout = layout
    self.options = options
    self.resolver = resolver
    reports = SyncReports(replica, didRecord: options.didReport)
  }

  /// Whether this is a forked child: it has none of the threads, and a lock may be held for ever.
  var isForked: Bool { getpid() != process }

  func start() {
    let path: String
    do {
      path = try replica.filePath()
    } catch {
      return reports.report(SyncProblem(error), of: .lock)
    }
    run("prefs-sync") { $0.takeTurns(path) }
    guard let resolver else { return }
    run("prefs-decide") { ConflictResolver(core: $0, resolver: resolver).run() }
  }

  /// Makes the sending process retry now.
  func wake() {
    reports.expire()
    signals.change { $0.wakes += 1 }
    if let path = try? replica.filePath() { SenderLock.requestRetry(besides: path) }
  }

  /// Stops all threads; returns before they have ended.
  func end() {
    signals.change { $0.isStopping = true }
    let (session, observation) = ends.withLock { ($0.session, $0.observation) }
    session?.end()
    observation?.cancel()
  }

  /// Starts a thread; returns false if that fails.
  @discardableResult
  func run(_ name: String, _ body: @escaping @Sendable (SyncCore) -> Void) -> Bool {
    signals.change { $0.threads += 1 }
    do throws(Errno) {
      try DetachedThread.start(named: name) { [self] in
        signals.advance()
        body(self)
        signals.rest()
        signals.change { $0.threads -= 1 }
      }
      return true
    } catch {
      signals.change { $0.threads -= 1 }
      reports.report(.noThread(error), of: .lock)
      return false
    }
  }

  var isStopping: Bool { signals.read { $0.isStopping } }

  // MARK: - Lock

  private func takeTurns(_ path: String) {
    let lock = SenderLock(besides: path)
    defer { lock.release() }
    var others: Set<SharingEpoch?> = []
    while !isStopping {
      do {
        try noticeChanges(path)
        let (fileChanges, lockChanges) = signals.read { ($0.fileChanges, $0.lockChanges) }
        let sharing = try replica.currentEpoch()
        guard let sharing, sharing.place == options.place else {
          if others.insert(sharing).inserted { options.didLoseFile?() }
          signals.wait(.seconds(60)) { $0.isStopping || $0.fileChanges != fileChanges }
          continue
        }
        others = []
        guard try lock.tryTake() else {
          awaitRelease(lock, lockChanges)
          continue
        }
        // Requests during the session count, too.
        let wakes = signals.read { $0.wakes }
        let hasLostFile = runSession(path, lock, sharing)
        lock.release()
        guard !isStopping, !hasLostFile else { continue }
        // Another process may have the password.
        signals.wait(options.pauseWithoutPassword) { $0.isStopping || $0.wakes != wakes }
      } catch {
        reports.report(SyncProblem(error), of: .lock)
        signals.wait(options.greatestBackoff) { $0.isStopping }
      }
    }
  }

  /// Waits until the process that holds the lock may have ended.
  private func awaitRelease(_ lock: SenderLock, _ changes: Int) {
    signals.wait(.seconds(30)) { $0.isStopping || $0.lockChanges != changes }
    // The kernel reports the end of a process before it releases its locks.
    for _ in 0..<10 where !isStopping {
      guard (try? lock.tryTake()) == false else { return }
      Deadline.pause()
    }
  }
}

extension SyncCore {
  /// Sends and receives until the session ends.
  func runSession(_ path: String, _ lock: SenderLock, _ sharing: SharingEpoch) -> Bool {
    reports.expire()
    signals.change { state in
      state.isEnding = false
      state.isInStep = false
      state.received = 0
    }
    let session = SyncSession(self, replica.during(sharing)) { lock.announce() }
    reports.keepFailures(with: { lock.keep(failure: $0?.message) })
    defer { reports.keepFailures(with: nil) }
    ends.withLock { $0.session = session }
    if isStopping { session.end() }
    options.didTakeTurn?(true)
    runInSession("prefs-receive", session) { _ in
      Receiver(session: session).run()
      session.end()
    }
    var sender = Sender(session)
    sender.run()
    session.end()
    ends.withLock { $0.session = nil }
    signals.wait(nil) { $0.sessionThreads == 0 }
    options.didTakeTurn?(false)
    return session.hasLostFile
  }

  /// Starts a thread of a session; if it fails, the session ends.
  private func runInSession(
    _ name: String, _ session: SyncSession, _ body: @escaping @Sendable (SyncCore) -> Void
  ) {
    signals.change { $0.sessionThreads += 1 }
    let isStarted = run(name) { core in
      body(core)
      core.signals.change { $0.sessionThreads -= 1 }
    }
    guard !isStarted else { return }
    signals.change { $0.sessionThreads -= 1 }
    session.end()
  }

  /// Starts notifying the threads of changes of the file, once.
  func noticeChanges(_ path: String) throws {
    guard ends.withLock({ $0.observation == nil }) else { return }
    let requests = PosixMutex(Requests(path))
    do throws(Errno) {
      let observation = try FolderWatch.observe(path) { [signals, reports] changes in
        let isAsked = changes.contains(.lockText) && requests.withLock { $0.isNew() }
        // A process that has asked waits for the report, even if nothing has changed.
        if isAsked { reports.expire() }
        signals.change { state in
          if changes.contains(.file) { state.fileChanges += 1 }
          if changes.contains(.lock) { state.lockChanges += 1 }
          if isAsked { state.wakes += 1 }
        }
      }
      ends.withLock { $0.observation = observation }
    } catch { throw SyncProblem.noThread(error) }
    if isStopping { end() }
  }
}

/// What other processes request from the sending process.
private struct Requests {
  private let path: String
  private var last: [UInt8]

  init(_ path: String) {
    self.path = path
    last = SenderLock.retryRequest(besides: path)
  }

  /// Whether there was a request since the last call.
  mutating func isNew() -> Bool {
    let now = SenderLock.retryRequest(besides: path)
    defer { last = now }
    return now != last
  }
}

/// The time in which a process holds the lock, sends and receives.
///
/// The sender and the receiver have a thread each. Either can end the session.
final class SyncSession: Sendable {
  private let core: SyncCore
  let replica: SharedReplica
  var client: EtcdClient { core.client }
  var layout: StoreLayout { core.layout }
  var options: SyncOptions { core.options }
  var signals: SyncSignals { core.signals }
  var reports: SyncReports { core.reports }

  /// Announces to all processes that the server has accepted changes.
  let announce: @Sendable () -> Void

  /// Writes into the store what this machine says of itself.
  let notice = MachineNotice()

  /// Ends every call of the session.
  let cancellation = EtcdCancellation()

  private struct Connection {
    /// Ends the watch.
    var cancellation: EtcdCancellation?
    /// The row `id`, and the row `floor`.
    var identity: [UInt8]?
    var floorRow: [UInt8]?
  }

  private let connection = PosixMutex(Connection())
  private let lostFile = PosixMutex(false)

  init(_ core: SyncCore, _ replica: SharedReplica, announce: @escaping @Sendable () -> Void) {
    self.core = core
    self.replica = replica
    self.announce = announce
  }

  var isEnding: Bool { signals.read { $0.isOver } }

  func end() {
    signals.change { $0.isEnding = true }
    cancellation.cancel()
    connection.withLock { $0.cancellation }?.cancel()
  }

  /// Whether the session has ended because sharing of the file has ended or changed.
  var hasLostFile: Bool { lostFile.withLock { $0 } }

  /// Ends the session if the error means that sharing of the file has changed since it began.
  func endsBecause(of error: any Error) -> Bool {
    guard (error as? PreferencesError)?.code == .notFound else { return false }
    lostFile.withLock { $0 = true }
    end()
    return true
  }

  /// Why reading the store failed; a refusal names the user and the store.
  func problem(_ error: any Error) -> SyncProblem {
    guard (error as? EtcdError)?.code == .permissionDenied else { return SyncProblem(error) }
    return SyncProblem(.permissionDenied, layout.noRights(of: client.configuration.user))
  }

  /// Waits for the next attempt, or until somebody requests one.
  func pause(_ duration: Duration) {
    let wakes = signals.read { $0.wakes }
    signals.wait(duration) { $0.isOver || $0.wakes != wakes }
  }

  // MARK: - Connection

  var identity: [UInt8]? { connection.withLock { $0.identity } }

  var floorRow: [UInt8]? {
    get { connection.withLock { $0.floorRow } }
    set { connection.withLock { $0.floorRow = newValue } }
  }

  /// Returns the cancellation of a new connection's watch.
  func beginConnection() -> EtcdCancellation {
    let new = EtcdCancellation()
    connection.withLock { $0.cancellation = new }
    // The session may have ended before the cancellation existed.
    if isEnding { new.cancel() }
    return new
  }

  func isConnected(identity: [UInt8], floorRow: [UInt8]?) {
    connection.withLock { connection in
      connection.identity = identity
      connection.floorRow = floorRow
    }
  }

  /// Makes the receiver read everything again.
  @discardableResult
  func requestReading() -> Int {
    let number = signals.change { state in
      state.readings += 1
      state.isInStep = false
      return state.readings
    }
    connection.withLock { $0.cancellation }?.cancel()
    return number
  }
}
