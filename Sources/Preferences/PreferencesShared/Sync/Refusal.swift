internal import Foundation
internal import Glibc
package import PreferencesDurable
package import Prephirences

/// Finds out whether the engine refuses a file in a way that only a person can mend, such as a
/// password that is not accepted.
package struct Refusal {
  private let replica: SharedReplica
  private let begin = Date()

  /// Begins to look; what was said before counts only after a while, since whoever sends may be about
  /// to try again.
  package init(_ replica: SharedReplica) { self.replica = replica }

  /// - Parameter isUnsent: Whether something is waited for that must be sent.
  /// - Throws: ``PreferencesError`` with what the engine said last, if it is such a refusal.
  package func check(isUnsent: Bool) throws(PreferencesError) {
    guard let report = try replica.state().report,
      let code = report.code.flatMap(Trouble.Code.init), code.isForAPerson,
      // What others have changed comes nevertheless.
      isUnsent || code != .readOnly && code != .noSpace,
      // Another process may lack what this one has.
      report.process == getpid() || !Trouble(code, "").isOfThisProcess,
      report.date >= begin || begin.timeIntervalSinceNow < -3,
      let error = PreferencesError(report)
    else { return }
    throw error
  }
}

extension Trouble.Code {
  fileprivate var isForAPerson: Bool {
    switch self {
    case .certificate, .wrongPassword, .passwordUnavailable, .permissionDenied, .readOnly, .noSpace,
      .foreignStore, .newerForm, .invalidAddress:
      true
    case .unreachable, .damaged, .protocolViolation, .noLibrary, .file: false
    }
  }
}
