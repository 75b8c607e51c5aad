internal import FoundationEssentials
internal import Glibc
package import PreferencesCore
package import PreferencesDurable
internal import PrephirencesEtcd
internal import PrephirencesSystem
internal import Synchronization
internal import SystemPackage

/// Records for all processes the status of a file, when it changes.
final class SyncReports: Sendable {
  /// Where a problem is.
  enum Place: CaseIterable { case lock, receiver, sender }

  private struct State {
    var problems: [Place: SyncProblem] = [:]
    var recorded: SyncProblem?
    var hasRecorded = false
    var lastContact: Date?
    var lastRecord = ContinuousClock.now
    /// Keeps the reason why nothing could be recorded, which works even on a full disk.
    var keepFailure: (@Sendable (PreferencesError?) -> Void)?
  }

  private let replica: SharedReplica
  private let didRecord: (@Sendable (SharingReport, _ unrecorded: PreferencesError?) -> Void)?
  private let state = PosixMutex(State())
  /// Held while a report is made and recorded, so that the newest report is the last one.
  private let recording = PosixMutex(())

  init(
    _ replica: SharedReplica,
    didRecord: (@Sendable (SharingReport, _ unrecorded: PreferencesError?) -> Void)?
  ) {
    self.replica = replica
    self.didRecord = didRecord
  }

  /// The first present problem, also one that could not be recorded.
  var problem: SyncProblem? {
    state.withLock { state in Place.allCases.compactMap { state.problems[$0] }.first }
  }

  func problem(of place: Place) -> SyncProblem? { state.withLock { $0.problems[place] } }

  /// Records the next report even if nothing has changed: the file may have been shared again.
  func expire() { state.withLock { $0.hasRecorded = false } }

  /// Sets the closure that keeps failures to record, while this process holds the lock.
  func keepFailures(with body: (@Sendable (PreferencesError?) -> Void)?) {
    state.withLock { $0.keepFailure = body }
  }

  func report(_ problem: SyncProblem, of place: Place) {
    record { $0.problems[place] = problem }
  }

  /// Records a successful answer of the server.
  func contact(of place: Place) {
    record { state in
      state.problems[place] = nil
      state.lastContact = Date()
    }
  }

  private func record(_ change: (inout State) -> Void) {
    let (report, failure) = recording.withLock { _ -> (SharingReport?, PreferencesError?) in
      guard let report = nextReport(after: change) else { return (nil, nil) }
      return (report, write(report))
    }
    // If sharing has ended, the failure to record it does not count.
    guard let report, failure?.code != .notFound else { return }
    didRecord?(report, failure)
  }

  /// Returns the report to record after a change, or `nil` if nothing is new.
  private func nextReport(after change: (inout State) -> Void) -> SharingReport? {
    state.withLock { state in
      change(&state)
      let problem = Place.allCases.compactMap { state.problems[$0] }.first
      // The message can differ between attempts.
      let rest: Duration = problem == state.recorded ? .seconds(60) : .seconds(5)
      let isOld = state.lastRecord.duration(to: .now) > rest
      guard !state.hasRecorded || problem?.code != state.recorded?.code || isOld
      else { return nil }
      state.hasRecorded = true
      state.recorded = problem
      state.lastRecord = .now
      return SharingReport(
        date: Date(), lastContact: state.lastContact, code: problem?.code.rawValue,
        message: problem?.message, process: getpid())
    }
  }

  /// Records a report, and returns why that has failed.
  private func write(_ report: SharingReport) -> PreferencesError? {
    var failure: PreferencesError?
    do throws(PreferencesError) { try replica.record(report) } catch { failure = error }
    // Try again with the next report.
    if failure != nil { state.withLock { $0.hasRecorded = false } }
    if failure?.code != .notFound { state.withLock { $0.keepFailure }?(failure) }
    return failure
  }
}

/// Why a file is not in step with the server.
struct SyncProblem: Error, Hashable {
  /// A word for programs; released words never change.
  enum Code: String, CaseIterable {
    // If several have the same code of preferences, the first is the usual one.
    case unreachable, certificate, wrongPassword, passwordUnavailable, permissionDenied, readOnly
    case noSpace, foreignStore, newerForm, protocolViolation, damaged, noLibrary, invalidAddress
    case file
  }

  let code: Code
  let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  init(_ error: EtcdError) {
    let code: Code =
      switch error.code {
      case .invalidAddress: .invalidAddress
      case .noLibrary: .noLibrary
      case .unreachable, .timedOut, .cancelled, .compacted: .unreachable
      case .certificate: .certificate
      case .wrongPassword: .wrongPassword
      case .passwordUnavailable: .passwordUnavailable
      case .permissionDenied: .permissionDenied
      case .noSpace: .noSpace
      case .tooLarge, .notFound, .protocolViolation: .protocolViolation
      case .forked: .file
      }
    self.init(code, error.message)
  }

  init(_ error: any Error) {
    switch error {
    case let error as SyncProblem: self = error
    case let error as EtcdError: self.init(error)
    case let error as PreferencesError: self.init(.file, error.message)
    default: self.init(.file, "the preferences failed: \(type(of: error))")
    }
  }

  /// Whether only this process has the problem: another one may have the password.
  var isOfThisProcess: Bool { code == .wrongPassword || code == .passwordUnavailable }
}

extension SyncProblem {
  static func noThread(_ error: Errno) -> Self {
    SyncProblem(.file, "no thread can be started: \(error.wordsOfThread)")
  }
}

/// Finds out whether the server refuses a file in a way that only a person can change, such as a
/// wrong password.
package struct RefusalCheck {
  private let replica: SharedReplica
  private let begin = Date()

  /// Starts looking; earlier reports count only after a while, because the sender may be about to
  /// retry.
  package init(_ replica: SharedReplica) { self.replica = replica }

  package func check(isUnsent: Bool) throws(PreferencesError) {
    guard let report = try replica.state().report,
      let code = report.code.flatMap(SyncProblem.Code.init), code.isForAPerson,
      // Receiving works nevertheless.
      isUnsent || code != .readOnly && code != .noSpace,
      // Another process may lack what this one has.
      report.process == getpid() || !SyncProblem(code, "").isOfThisProcess,
      report.date >= begin || begin.timeIntervalSinceNow < -3,
      let error = PreferencesError(report)
    else { return }
    throw error
  }
}

extension SyncProblem.Code {
  fileprivate var isForAPerson: Bool {
    switch self {
    case .certificate, .wrongPassword, .passwordUnavailable, .permissionDenied, .readOnly, .noSpace,
      .foreignStore, .newerForm, .invalidAddress:
      true
    case .unreachable, .damaged, .protocolViolation, .noLibrary, .file: false
    }
  }
}

/// Writes into the store which machine has the file, when it was last in touch, and what it cannot
/// send.
///
/// A user who may only read cannot write it. A failure is not reported: the next contact tries
/// again.
final class MachineNotice: Sendable {
  private struct State {
    /// The last row, and when to write it again.
    var said: (tag: WriterTag, row: MachineRow)?
    /// The row that another machine had under that tag.
    ///
    /// If this machine takes another tag later, the file was a copy of that machine's, and its row
    /// is restored.
    var replaced: MachineRow?
    var next = ContinuousClock.now
    /// No row is written before this time, not even a changed one.
    var rest = ContinuousClock.now
  }

  /// How many notices this process has: with more suites, each writes less often.
  private static let count = Atomic(0)

  private let state = PosixMutex(State())

  init() { Self.count.add(1, ordering: .relaxed) }

  deinit { Self.count.subtract(1, ordering: .relaxed) }

  /// How long to wait until the next row; random, so that machines don't write together.
  private static var silence: Duration {
    let seconds = max(300, 30 * count.load(ordering: .relaxed))
    return .seconds(seconds) * Double.random(in: 0.8...1.2)
  }

  /// How long the sender may wait before it must call ``update(_:)``.
  var timeToNext: Duration {
    max(.seconds(1), ContinuousClock.now.duration(to: state.withLock(\.next)))
  }

  /// Writes the row at the first contact, unless the store has had an equal one for less than five
  /// minutes.
  func begin(_ session: SyncSession, _ cancellation: EtcdCancellation) {
    let (said, replaced) = state.withLock { ($0.said, $0.replaced) }
    guard let (tag, row) = try? self.row(session), said?.tag != tag else { return }
    if let said, let replaced {
      put(replaced, said.tag, session, cancellation)
    }
    let key = EtcdKeys.one(session.layout.machine(tag))
    let known = try? session.client.range(
      key, deadline: Deadline(after: .seconds(5)), cancellation: cancellation)
    let old = known?.rows.first.flatMap { MachineRow($0.value) }
    state.withLock { $0.replaced = old.flatMap { $0.name == row.name ? nil : $0 } }
    if let old, old.says(row), (0..<300_000).contains(row.contact - old.contact) {
      return didSay(tag, old)
    }
    say(tag, row, session, cancellation)
  }

  /// Writes the row if it has changed, or after some time.
  func update(_ session: SyncSession) {
    let (said, next, rest) = state.withLock { ($0.said, $0.next, $0.rest) }
    guard let (tag, row) = try? self.row(session),
      next <= .now || said?.tag != tag || said?.row.says(row) != true
    else { return }
    guard rest <= .now else { return state.withLock { $0.next = $0.rest } }
    say(tag, row, session, session.cancellation)
  }

  private func row(_ session: SyncSession) throws -> (WriterTag, MachineRow) {
    let unsent = try session.replica.unsent().count { $0.waits }
    return (
      try session.replica.state().writer, MachineRow(name: session.options.machine, unsent: unsent)
    )
  }

  private func say(
    _ tag: WriterTag, _ row: MachineRow, _ session: SyncSession, _ cancellation: EtcdCancellation
  ) {
    didSay(tag, row)
    put(row, tag, session, cancellation)
  }

  private func put(
    _ row: MachineRow, _ tag: WriterTag, _ session: SyncSession, _ cancellation: EtcdCancellation
  ) {
    guard let bytes = try? row.bytes() else { return }
    _ = try? session.client.put(
      session.layout.machine(tag), bytes, deadline: Deadline(after: .seconds(5)),
      cancellation: cancellation)
  }

  private func didSay(_ tag: WriterTag, _ row: MachineRow) {
    state.withLock { state in
      state.said = (tag, row)
      state.next = .now + Self.silence
      state.rest = .now + .seconds(10)
    }
  }
}

extension MachineRow {
  /// Whether another row is equal except for its time.
  fileprivate func says(_ other: Self) -> Bool {
    (name, release, unsent) == (other.name, other.release, other.unsent)
  }
}
