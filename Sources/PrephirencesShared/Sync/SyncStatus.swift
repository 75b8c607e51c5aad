package import Prephirences
package import PrephirencesDurable

/// How a shared file stands, for `prefs sync status`.
package struct SyncStatus: Sendable {
  package var state: SharingState
  /// The units that wait for a decision.
  package var conflicts: [ReplicaConflict]
  /// The process that sends and receives; `nil` if none does.
  package var process: Int32?

  /// - Throws: ``PreferencesError``, also if the file is not shared.
  package static func of(_ replica: SharedReplica) throws(PreferencesError) -> SyncStatus {
    SyncStatus(
      state: try replica.state(), conflicts: try replica.conflicts(),
      process: SenderLock.holder(besides: try replica.filePath()))
  }
}
