package import Prephirences
package import PrephirencesDurable
package import PrephirencesEtcd
package import PrephirencesFiles

/// Keeps one file in step with an engine, on threads of its own, while it has the lock of the sender.
///
/// There is one for each file of a process.
package final class SyncWorker: Sendable {
  package typealias Resolver = @Sendable (ReplicaConflict) throws -> ReplicaDecision

  package init(
    replica: SharedReplica, cluster: EtcdConfiguration, prefix: String, resolver: Resolver?
  ) {}

  /// Begins, in the background; it waits for nothing.
  package func start() {}

  /// Ends, and waits for its threads until the deadline.
  package func stop(_ deadline: Deadline) {}

  /// Tries at once what waits for a retry.
  package func wake() {}

  /// Waits until everything that was set before is acknowledged, by whichever process sends.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/timedOut``, which says whether a
  ///   change may have happened.
  package func flush(_ deadline: Deadline) throws(PreferencesError) {
    throw PreferencesError(.timedOut, "not built yet")
  }

  /// Takes the identity of the store that the engine has now, or gives it a new one.
  package func adopt(_ deadline: Deadline) throws(PreferencesError) {
    throw PreferencesError(.timedOut, "not built yet")
  }
}
