package import PreferencesDurable
package import Prephirences
package import PrephirencesEtcd
package import PrephirencesSystem

/// Keeps one file in step with an engine, on threads of its own, while it has the lock of the sender.
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
  /// - Parameters:
  ///   - replica: The file.
  ///   - cluster: How the engine is reached; nothing is loaded or opened before the start.
  ///   - prefix: What the engine's keys begin with, such as `fleet/com.example.server/`.
  ///   - resolver: Decides conflicts, also while another process has the lock; `nil` if this process
  ///     decides none.
  ///   - options: How it works.
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
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/timedOut``, or with
  ///   ``PreferencesError/Code/outcomeUnknown`` if a change may have happened; with
  ///   ``PreferencesError/Code/conflict``, perhaps before the
  ///   deadline, if everything that is unsent was refused, or waits for a decision that its closure
  ///   did not make, and if a change was given up meanwhile, because another machine was first; or
  ///   as the file fails.
  package func flush(
    _ deadline: Deadline, endsWhenRefused: Bool = false
  ) throws(PreferencesError) {
    try Flush(core: core, endsWhenRefused: endsWhenRefused).perform(deadline)
  }

  /// Why this worker does not get on; `nil` if it does, or if another process sends.
  package var failure: PreferencesError? { core.reports.trouble.map { PreferencesError($0) } }

  /// Whether one of its threads hangs, in a call that should have ended long ago.
  ///
  /// A thread that waits for the engine, the file or another process does not.
  package func isHung(after limit: Duration) -> Bool {
    !core.isForked && core.signals.isHung(after: limit)
  }

  /// Takes the identity of the store that the engine has now, or gives it a new one.
  ///
  /// Any process can do that, also if another one sends.
  ///
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/timedOut`` after the deadline.
  package func adopt(_ deadline: Deadline) throws(PreferencesError) {
    try Adoption(core: core).perform(deadline)
  }
}
