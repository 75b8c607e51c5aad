internal import Foundation
internal import Glibc
internal import Prephirences
internal import PrephirencesDurable
internal import PrephirencesFiles

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
  }

  private let replica: SharedReplica
  private let didRecord: (@Sendable (SharingReport, _ isRecorded: Bool) -> Void)?
  private let state = PosixMutex(State())

  init(
    _ replica: SharedReplica, didRecord: (@Sendable (SharingReport, _ isRecorded: Bool) -> Void)?
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
    do throws(PreferencesError) {
      try replica.record(report)
      didRecord?(report, true)
    } catch {
      // Other processes find it with the next change.
      didRecord?(report, false)
    }
  }
}
