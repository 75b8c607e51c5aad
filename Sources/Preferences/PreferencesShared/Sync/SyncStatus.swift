internal import Foundation
package import PreferencesDurable
package import Prephirences
internal import PrephirencesSystem

/// How a shared file stands, for `prefs sync status`.
package struct SyncStatus: Sendable {
  package var state: SharingState
  /// The units that wait for a decision.
  package var conflicts: [ReplicaConflict]
  /// The process that sends and receives; `nil` if none does.
  package var process: Int32?
  /// Whether that process is stopped by a signal.
  package var isStopped: Bool
  /// Why that process cannot record how the file stands; `nil` if it can.
  package var recordFailure: String?

  /// How old the last contact may be while a process sends and receives: it hears from the engine every
  /// 30 seconds, and records that at most every 60.
  package static let greatestSilence = Duration.seconds(150)

  /// Returns how a file stands; `nil` if it is not shared, or no program has begun to share it.
  package static func of(_ replica: SharedReplica) throws(PreferencesError) -> SyncStatus? {
    guard try replica.isShared() else { return nil }
    let state = try replica.state()
    let path = try replica.filePath()
    let process = SenderLock.holder(besides: path)
    return SyncStatus(
      // Listing them waits for those who write.
      state: state, conflicts: state.unsentKeys > 0 ? try replica.conflicts() : [],
      process: process, isStopped: process.map { RunningProcess($0).isStopped } ?? false,
      recordFailure: process == nil ? nil : SenderLock.failure(besides: path))
  }

  /// Why the process that sends and receives does not get on, or that there is none; `nil` if it does.
  package var senderFailure: PreferencesError? {
    guard let process else {
      return PreferencesError(.timedOut, "no process keeps it in step")
    }
    if isStopped { return .stopped(process) }
    if let recordFailure {
      return PreferencesError(
        .inputOutput, "process \(process) cannot record how it stands: \(recordFailure)")
    }
    guard let contact = state.report?.lastContact, state.revision > 0 else {
      return PreferencesError(.timedOut, "it has not been in step yet")
    }
    // Far in the future, it says nothing: the clock was set back since, and the process is silent.
    guard abs(contact.timeIntervalSinceNow) > Self.greatestSilence / .seconds(1) else { return nil }
    return PreferencesError(
      .timedOut, "process \(process) keeps it in step, but has not heard from etcd lately")
  }
}

extension PreferencesError {
  /// The process that sends is stopped; `nil` if it is not, or if there is none.
  package static func stoppedSender(of replica: SharedReplica) -> PreferencesError? {
    guard let path = try? replica.filePath(), let process = SenderLock.holder(besides: path),
      RunningProcess(process).isStopped
    else { return nil }
    return .stopped(process)
  }

  fileprivate static func stopped(_ process: Int32) -> Self {
    Self(
      .timedOut,
      "process \(process), which keeps it in step, is stopped; continue it (SIGCONT) or end it")
  }
}
