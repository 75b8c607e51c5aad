internal import Foundation
internal import Glibc
internal import Prephirences
internal import PrephirencesDurable
internal import PrephirencesEtcd
internal import PrephirencesFiles
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

  struct Ends {
    var session: SyncSession?
    /// The watches of the files that threads wait for.
    var watches: [FileWatch] = []
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
  func run(_ name: String, _ body: @escaping @Sendable (SyncCore) -> Void) -> Bool {
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

  var isStopping: Bool { signals.read { $0.isStopping } }

  // MARK: - Lock

  private func takeTurns(_ path: String) {
    let lock = SenderLock(besides: path)
    defer { lock.release() }
    var others: Set<Sharing?> = []
    while !isStopping {
      do {
        guard let sharing = try ownSharing() else {
          try awaitSharing(path, &others)
          continue
        }
        others = []
        guard try lock.tryTake() else {
          awaitRelease(path, lock)
          continue
        }
        let hasLostFile = runSession(path, lock, sharing)
        lock.release()
        guard !isStopping, !hasLostFile else { continue }
        // Another process may have the password.
        let wakes = signals.read { $0.wakes }
        signals.wait(options.pauseWithoutPassword) { $0.isStopping || $0.wakes != wakes }
      } catch {
        reports.report(Trouble(error), of: .lock)
        signals.wait(options.greatestBackoff) { $0.isStopping }
      }
    }
  }

  /// Returns how the file is shared; `nil` if it is not, or at another place.
  private func ownSharing() throws(PreferencesError) -> Sharing? {
    guard let sharing = try replica.currentSharing(), sharing.place == options.place else {
      return nil
    }
    return sharing
  }

  /// Waits until the file changes, which is not shared at this worker's place.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - others: The other ways in which it was shared since, which somebody was told of.
  /// - Throws: ``PreferencesError``.
  private func awaitSharing(
    _ path: String, _ others: inout Set<Sharing?>
  ) throws(PreferencesError) {
    guard
      let watch = try? FileWatch(withSuffixes: ["-lock"], noticesEachWrite: true, path: { path })
    else {
      signals.wait(.seconds(1)) { $0.isStopping }
      return
    }
    // It may have changed before the watch began.
    let sharing = try replica.currentSharing()
    guard sharing == nil || sharing?.place != options.place else { return }
    if others.insert(sharing).inserted { options.didLoseFile?() }
    watched(watch) { _ = watch.wait(FileSystemKind(of: path).isNetwork ? 1000 : 60_000) }
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
  func watched(_ watch: FileWatch, _ body: () -> Void) {
    ends.withLock { $0.watches.append(watch) }
    if !isStopping { body() }
    ends.withLock { $0.watches.removeAll { $0 === watch } }
    watch.close()
  }
}
