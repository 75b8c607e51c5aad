public import FoundationEssentials
internal import Glibc
public import PreferencesCore
package import PreferencesDurable
internal import PrephirencesSystem

extension SharedPreferences {
  /// Whether a suite is in step, and what waits.
  public struct Status: Sendable {
    /// Whether the suite is shared; if not, everything else is empty.
    public let isShared: Bool

    /// Whether the store refuses changes by this machine's user; then this machine refuses them,
    /// too.
    public let isReadOnly: Bool

    /// The number of keys with unsent changes.
    public let unsentKeys: Int

    /// When the oldest unsent change was made.
    public let oldestUnsent: Date?

    /// When the suite was last in step; `nil` if never.
    public let lastContact: Date?

    /// Why it is not in step now; `nil` if it is.
    public let failure: PreferencesError?

    /// The changes that wait for something other than the network.
    public let waiting: [Waiting]
  }

  /// Changes that are not sent until something happens.
  public struct Waiting: Sendable, Hashable {
    /// What changes wait for.
    @nonexhaustive public enum Reason: Hashable, Sendable {
      /// For the decision of a conflict.
      case decision

      /// For the permission to change the keys.
      case permission

      /// For a damaged row of the store to be removed.
      case damage

      /// For a release that can read the store's row.
      case newerRelease

      /// For a store that accepts requests of this size.
      case size

      /// For space in the store.
      case space
    }

    /// The keys.
    public let keys: [PreferenceKey]

    /// What they wait for.
    public let reason: Reason

    /// The last message of the store, or of the closure that decides; `nil` if there is none.
    public let message: String?
  }

  /// Returns whether the suite is in step, as the programs of this machine know it.
  ///
  /// - Returns: The status; no other machine is asked.
  /// - Throws: ``PreferencesError`` if the file cannot be read.
  public func status() throws(PreferencesError) -> Status {
    guard try store.replica.isShared() else { return Status(failure: store.problem) }
    return Status(
      try store.replica.state(), try store.replica.conflicts(),
      failure: store.problem ?? .stoppedSender(of: store.replica))
  }
}

extension SharedPreferences.Status {
  /// `state` is `nil` if the suite is not shared.
  fileprivate init(
    _ state: SharingState? = nil, _ conflicts: [ReplicaConflict] = [], failure: PreferencesError?
  ) {
    isShared = state != nil
    isReadOnly = state?.isReadOnly ?? false
    unsentKeys = state?.unsentKeys ?? 0
    oldestUnsent = state?.oldestUnsent
    lastContact = state?.report?.lastContact
    self.failure = failure ?? state?.report.flatMap(PreferencesError.init)
    waiting = state.map { SharedPreferences.Waiting.all($0, conflicts) } ?? []
  }
}

extension SharedPreferences.Waiting {
  static func all(_ state: SharingState, _ conflicts: [ReplicaConflict]) -> [Self] {
    conflicts.map { Self(keys: $0.values.map(\.key), reason: .decision, message: $0.message) }
      + state.setAside.map { Self(keys: $0.keys, reason: Reason($0.reason), message: $0.message) }
  }
}

extension SharedPreferences.Waiting.Reason {
  init(_ reason: SetAsideReason) {
    self =
      switch reason {
      case .permission: .permission
      case .newerForm: .newerRelease
      case .tooLarge: .size
      case .noSpace: .space
      case .damaged: .damage
      }
  }
}

extension SharedReplica {
  /// Records the server's answer to a waiting process, unless another one sends: its answers are
  /// newer.
  package func recordFailure(_ error: PreferencesError) {
    guard let code = SyncProblem.Code(error.code) else { return }
    recordUnlessOthersSend(
      SharingReport(
        date: Date(), lastContact: nil, code: code.rawValue, message: error.message,
        process: getpid()))
  }

  /// Records that the file is in step now, unless another process sends.
  package func recordContact() {
    let now = Date()
    recordUnlessOthersSend(
      SharingReport(date: now, lastContact: now, code: nil, message: nil, process: getpid()))
  }

  private func recordUnlessOthersSend(_ report: SharingReport) {
    guard let path = try? filePath(),
      [nil, getpid()].contains(SenderLock.holder(besides: path))
    else { return }
    // The next attempt finds again what cannot be recorded.
    try? record(report)
  }
}

extension SyncProblem.Code {
  /// The word of a failure, or `nil` if it is not the server's.
  fileprivate init?(_ code: PreferencesError.Code) {
    switch code {
    case .timedOut, .outcomeUnknown: self = .unreachable
    case .inputOutput: return nil
    default:
      guard let word = Self.allCases.first(where: { PreferencesError.Code($0) == code }) else {
        return nil
      }
      self = word
    }
  }
}

extension PreferencesError {
  /// The last problem that was reported, or `nil` if all is well.
  init?(_ report: SharingReport) {
    guard let word = report.code else { return nil }
    // A newer release may have other words.
    self.init(
      Code(SyncProblem.Code(rawValue: word) ?? .unreachable),
      report.message ?? "the shared store: \(word)")
  }
}

extension PreferencesError {
  init(_ problem: SyncProblem) { self.init(Code(problem.code), problem.message) }
}

extension PreferencesError.Code {
  /// The code of a problem; other tables are derived from this one.
  init(_ problem: SyncProblem.Code) {
    self =
      switch problem {
      case .unreachable, .noLibrary: .unreachable
      case .certificate: .certificate
      case .wrongPassword: .wrongPassword
      case .passwordUnavailable: .locked
      case .permissionDenied: .accessDenied
      case .readOnly: .readOnly
      case .noSpace: .overQuota
      case .foreignStore: .foreignStore
      case .newerForm: .unsupportedFormat
      case .protocolViolation, .damaged: .damaged
      case .invalidAddress: .invalidAddress
      case .file: .inputOutput
      }
  }
}

extension SyncStatus {
  /// The last problem that was reported, or `nil` if all is well; a store that cannot be reached
  /// now is ``PreferencesError/Code/timedOut``.
  package var problem: PreferencesError? {
    guard let report = state.report, let error = PreferencesError(report) else { return nil }
    switch report.code.flatMap(SyncProblem.Code.init) {
    // A user who may only read is in step.
    case .readOnly where state.unsentKeys == 0: return nil
    case .unreachable: return PreferencesError(.timedOut, error.message)
    default: return error
    }
  }

  /// Whether a process keeps the file in step now.
  package var isFollowed: Bool { senderFailure == nil && problem == nil }

  /// Why changes wait for a person.
  package var waitingFailures: [PreferencesError] {
    SharedPreferences.Waiting.all(state, []).map(PreferencesError.init)
  }
}

/// The status of a shared file, as a command prints it.
package struct SyncStatus: Sendable {
  package var state: SharingState
  /// The batches that wait for a decision.
  package var conflicts: [ReplicaConflict]
  /// The process that sends and receives; `nil` if none does.
  package var process: Int32?
  /// Whether that process is stopped by a signal.
  package var isStopped: Bool
  /// Why that process cannot record the status; `nil` if it can.
  package var recordFailure: String?

  /// How old the last contact may be while a process sends and receives; it hears from the server
  /// every 30 seconds, and records that at most every 60 seconds.
  package static let greatestSilence = Duration.seconds(150)

  /// Returns the status, or `nil` if the file is not shared, or no program has begun to share it.
  package static func of(_ replica: SharedReplica) throws(PreferencesError) -> SyncStatus? {
    guard try replica.isShared() else { return nil }
    let state = try replica.state()
    let path = try replica.filePath()
    let process = SenderLock.holder(besides: path)
    return SyncStatus(
      // Listing them waits for writers.
      state: state, conflicts: state.unsentKeys > 0 ? try replica.conflicts() : [],
      process: process, isStopped: process.map { RunningProcess($0).isStopped } ?? false,
      recordFailure: process == nil ? nil : SenderLock.failure(besides: path))
  }

  /// Why the process that sends and receives makes no progress, or that there is none; `nil` if all
  /// is well.
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
    // A contact far in the future means that the clock was set back, and the process is silent.
    guard abs(contact.timeIntervalSinceNow) > Self.greatestSilence / .seconds(1) else { return nil }
    return PreferencesError(
      .timedOut, "process \(process) keeps it in step, but has not heard from etcd lately")
  }
}

extension PreferencesError {
  /// The failure that the sending process is stopped; `nil` if it is not, or if there is none.
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
