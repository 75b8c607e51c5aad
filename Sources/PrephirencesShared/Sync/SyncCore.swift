internal import Foundation
internal import Glibc
internal import Prephirences
internal import PrephirencesDurable
internal import PrephirencesEtcd
internal import PrephirencesFiles
internal import Synchronization
internal import SystemPackage

/// The threads of a worker.
///
/// | thread | lives | does |
/// | --- | --- | --- |
/// | `prefs-sync` | always | waits for the lock, then sends |
/// | `prefs-receive` | with the lock | receives |
/// | `prefs-file` | with the lock, or with a resolver | notices changes of the file |
/// | `prefs-decide` | with a resolver | asks it for decisions |
final class SyncCore: Sendable {
  let replica: SharedReplica
  let client: EtcdClient
  let layout: StoreLayout
  let options: SyncOptions
  let signals = SyncSignals()
  let reports: SyncReports
  let process = getpid()

  private let resolver: SyncWorker.Resolver?

  private struct Ends {
    var session: SyncSession?
    /// The watches of the files that threads wait for.
    var watches: [FileWatch] = []
  }

  private let ends = Mutex(Ends())

  init(
    _ replica: SharedReplica, _ cluster: EtcdConfiguration, _ layout: StoreLayout,
    _ options: SyncOptions, _ resolver: SyncWorker.Resolver?
  ) {
    self.replica = replica
    client = EtcdClient(cluster)
    self.layout = layout
    self.options = options
    self.resolver = resolver
    reports = SyncReports(replica, didRecord: options.didReport)
  }

  /// A forked child has the object, but not its threads, and perhaps a lock that one of them held.
  var isForked: Bool { getpid() != process }

  func start() {
    let path: String
    do {
      path = try replica.filePath()
    } catch {
      return reports.report(Trouble(error), of: .lock)
    }
    run("prefs-sync") { $0.takeTurns(path) }
    guard let resolver else { return }
    run("prefs-file") { $0.noticeChanges(path) { false } }
    run("prefs-decide") { Decider(core: $0, resolver: resolver).run() }
  }

  /// Lets whoever sends try again at once, in whichever process.
  func wake() {
    signals.change { $0.wakes += 1 }
    if let path = try? replica.filePath() { SenderLock.requestRetry(besides: path) }
  }

  /// Ends all threads; returns before they have ended.
  func end() {
    signals.change { $0.isStopping = true }
    ends.withLock { ends in
      ends.session?.end()
      for watch in ends.watches { watch.cancel() }
    }
  }

  /// - Returns: Whether the thread was started.
  @discardableResult
  private func run(_ name: String, _ body: @escaping @Sendable (SyncCore) -> Void) -> Bool {
    signals.change { $0.threads += 1 }
    do throws(Errno) {
      try DetachedThread.start(named: name) { [self] in
        body(self)
        signals.change { $0.threads -= 1 }
      }
      return true
    } catch {
      signals.change { $0.threads -= 1 }
      reports.report(Trouble(.file, "no thread could be started: \(error)"), of: .lock)
      return false
    }
  }

  private var isStopping: Bool { signals.read { $0.isStopping } }

  // MARK: - Lock

  private func takeTurns(_ path: String) {
    let lock = SenderLock(besides: path)
    defer { lock.release() }
    while !isStopping {
      do {
        guard try lock.tryTake() else {
          awaitRelease(path, lock)
          continue
        }
        runSession(path, lock)
        lock.release()
        guard !isStopping else { return }
        // Another process may have the password.
        let wakes = signals.read { $0.wakes }
        signals.wait(options.pauseWithoutPassword) { $0.isStopping || $0.wakes != wakes }
      } catch {
        reports.report(Trouble(error), of: .lock)
        signals.wait(options.greatestBackoff) { $0.isStopping }
      }
    }
  }

  /// Waits until the process that has the lock may have ended.
  private func awaitRelease(_ path: String, _ lock: SenderLock) {
    guard let watch = try? FileWatch(path: { path + SenderLock.suffix }) else {
      signals.wait(.seconds(1)) { $0.isStopping }
      return
    }
    watched(watch) {
      // It may have ended before the watch began.
      guard (try? lock.tryTake()) != true else { return }
      _ = watch.wait(30_000)
      // The kernel reports the end of a process before it frees its locks.
      for _ in 0..<10 where !isStopping {
        guard (try? lock.tryTake()) == false else { return }
        Deadline.pause()
      }
    }
  }

  /// Lets ``end()`` end what waits for a watch.
  private func watched(_ watch: FileWatch, _ body: () -> Void) {
    ends.withLock { $0.watches.append(watch) }
    if !isStopping { body() }
    ends.withLock { $0.watches.removeAll { $0 === watch } }
    watch.close()
  }

  // MARK: - Session

  private func runSession(_ path: String, _ lock: SenderLock) {
    signals.change { state in
      state.isEnding = false
      state.isInStep = false
      state.received = 0
    }
    let session = SyncSession(replica, client, layout, options, signals, reports) {
      lock.announce()
    }
    ends.withLock { $0.session = session }
    if isStopping { session.end() }
    runInSession("prefs-receive", session) { _ in
      Receiver(session: session).run()
      session.end()
    }
    let request = Mutex(lock.retryRequest)
    runInSession("prefs-file", session) { core in
      core.noticeChanges(path) {
        let now = lock.retryRequest
        let isNew = request.withLock { last in
          defer { last = now }
          return last != now
        }
        if isNew { core.signals.change { $0.wakes += 1 } }
        return core.signals.read { $0.isEnding }
      }
    }
    var sender = Sender(session)
    sender.run()
    session.end()
    let watches = ends.withLock { ends in
      ends.session = nil
      return ends.watches
    }
    for watch in watches { watch.cancel() }
    // With the lock, nobody else may still use the file for this process.
    signals.wait(nil) { $0.sessionThreads == 0 }
  }

  /// Without one of its threads, a session does nothing.
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

  /// Tells the other threads of changes of the file, until `isDone` says that it is enough.
  private func noticeChanges(_ path: String, _ isDone: () -> Bool) {
    let isOnNetwork = FileSystemKind(of: path).isNetwork
    while !isStopping, !isDone() {
      let watch = try? FileWatch(
        withSuffixes: ["-lock", SenderLock.suffix], noticesEachWrite: true
      ) {
        path
      }
      guard let watch else {
        signals.wait(.seconds(1)) { $0.isStopping || $0.isEnding }
        signals.change { $0.fileChanges += 1 }
        continue
      }
      watched(watch) {
        // What was changed before is noticed, too.
        repeat {
          signals.change { $0.fileChanges += 1 }
        } while !isDone() && watch.wait(isOnNetwork ? 1000 : 60_000) == .changed && !isStopping
      }
    }
  }
}
