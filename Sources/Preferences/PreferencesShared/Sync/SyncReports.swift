internal import Foundation
internal import Glibc
internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesSystem

/// Records for all processes how a file stands with the engine, when that changes.
final class SyncReports: Sendable {
  /// Who has a trouble.
  enum Place: CaseIterable { case lock, receiver, sender }

  private struct State {
    var troubles: [Place: Trouble] = [:]
    var recorded: Trouble?
    var hasRecorded = false
    var lastContact: Date?
    var lastRecord = ContinuousClock.now
    /// Keeps, where that is possible on a full disk, why nothing could be recorded.
    var keepFailure: (@Sendable (PreferencesError?) -> Void)?
  }

  private let replica: SharedReplica
  private let didRecord: (@Sendable (SharingReport, _ unrecorded: PreferencesError?) -> Void)?
  private let state = PosixMutex(State())

  init(
    _ replica: SharedReplica,
    didRecord: (@Sendable (SharingReport, _ unrecorded: PreferencesError?) -> Void)?
  ) {
    self.replica = replica
    self.didRecord = didRecord
  }

  /// The first trouble now, also one that could not be recorded.
  var trouble: Trouble? {
    state.withLock { state in Place.allCases.compactMap { state.troubles[$0] }.first }
  }

  /// Whether `place` has a trouble now.
  func trouble(of place: Place) -> Trouble? { state.withLock { $0.troubles[place] } }

  /// Records the next report, also if it is as the last one: the file may be shared anew.
  func expire() { state.withLock { $0.hasRecorded = false } }

  /// Calls a closure, while this process has the lock, with why a report could not be recorded.
  func keepFailures(with body: (@Sendable (PreferencesError?) -> Void)?) {
    state.withLock { $0.keepFailure = body }
  }

  func report(_ trouble: Trouble, of place: Place) {
    record { $0.troubles[place] = trouble }
  }

  /// The engine has answered, as it should.
  func contact(of place: Place) {
    record { state in
      state.troubles[place] = nil
      state.lastContact = Date()
    }
  }

  private func record(_ change: (inout State) -> Void) {
    let report: SharingReport? = state.withLock { state in
      change(&state)
      let trouble = Place.allCases.compactMap { state.troubles[$0] }.first
      // The message can be another one with each attempt.
      let rest: Duration = trouble == state.recorded ? .seconds(60) : .seconds(5)
      let isOld = state.lastRecord.duration(to: .now) > rest
      guard !state.hasRecorded || trouble?.code != state.recorded?.code || isOld
      else { return nil }
      state.hasRecorded = true
      state.recorded = trouble
      state.lastRecord = .now
      return SharingReport(
        date: Date(), lastContact: state.lastContact, code: trouble?.code.rawValue,
        message: trouble?.message, process: getpid())
    }
    guard let report else { return }
    var failure: PreferencesError?
    do throws(PreferencesError) { try replica.record(report) } catch { failure = error }
    // It is tried again with the next report.
    if failure != nil { state.withLock { $0.hasRecorded = false } }
    // What says that the file is not shared any more is no failure to record.
    guard failure?.code != .notFound else { return }
    state.withLock { $0.keepFailure }?(failure)
    didRecord?(report, failure)
  }
}
