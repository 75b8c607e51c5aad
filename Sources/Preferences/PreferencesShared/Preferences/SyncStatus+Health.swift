internal import PreferencesDurable
package import Prephirences

extension SyncStatus {
  /// What the engine said last, unless all is well: a store that cannot be reached now is
  /// ``PreferencesError/Code/timedOut``.
  package var trouble: PreferencesError? {
    guard let report = state.report, let error = PreferencesError(report) else { return nil }
    switch report.code.flatMap(Trouble.Code.init) {
    // Who may only read is in step.
    case .readOnly where state.unsentKeys == 0: return nil
    case .unreachable: return PreferencesError(.timedOut, error.message)
    default: return error
    }
  }

  /// Whether a process keeps the file in step now.
  package var isFollowed: Bool { senderFailure == nil && trouble == nil }

  /// Why changes wait for a person.
  package var waitingFailures: [PreferencesError] {
    SharedPreferences.Waiting.all(state, []).map(PreferencesError.init)
  }
}
