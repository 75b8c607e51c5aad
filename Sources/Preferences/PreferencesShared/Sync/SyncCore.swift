internal import Foundation
internal import Glibc
internal import PreferencesDurable
internal import Prephirences
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
/// All workers of the files in a folder share `prefs-files`, which notices changes of them, and all
/// that watch a cluster share `prefs-watch`.
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
    var observation: FolderObservation?
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
    run("prefs-decide") { Decider(core: $0, resolver: resolver).run() }
  }

  /// Lets whoever sends try again at once, in whichever process.
  func wake() {
    reports.expire()
    signals.change { $0.wakes += 1 }
    if let path = try? replica.filePath() { SenderLock.requestRetry(besides: path) }
  }

  /// Ends all threads; returns before they have ended.
  func end() {
    signals.change { $0.isStopping = true }
    let (session, observation) = ends.withLock { ($0.session, $0.observation) }
    session?.end()
    observation?.cancel()
  }

  /// - Returns: Whether the thread was started.
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
    var others: Set<Sharing?> = []
    while !isStopping {
      do {
        try noticeChanges(path)
        let (fileChanges, lockChanges) = signals.read { ($0.fileChanges, $0.lockChanges) }
        let sharing = try replica.currentSharing()
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
        // What is asked while the session ends counts, too.
        let wakes = signals.read { $0.wakes }
        let hasLostFile = runSession(path, lock, sharing)
        lock.release()
        guard !isStopping, !hasLostFile else { continue }
        // Another process may have the password.
        signals.wait(options.pauseWithoutPassword) { $0.isStopping || $0.wakes != wakes }
      } catch {
        reports.report(Trouble(error), of: .lock)
        signals.wait(options.greatestBackoff) { $0.isStopping }
      }
    }
  }

  /// Waits until the process that has the lock may have ended.
  private func awaitRelease(_ lock: SenderLock, _ changes: Int) {
    signals.wait(.seconds(30)) { $0.isStopping || $0.lockChanges != changes }
    // The kernel reports the end of a process before it frees its locks.
    for _ in 0..<10 where !isStopping {
      guard (try? lock.tryTake()) == false else { return }
      Deadline.pause()
    }
  }
}
