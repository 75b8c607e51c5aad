internal import PreferencesDurable
package import Prephirences
package import PrephirencesEtcd
internal import PrephirencesSystem

extension PreferencesError {
  /// The failure of a call to the engine, as one of preferences.
  package init(_ error: EtcdError) {
    let suffix = error.mayHaveHappened ? "; the change may have happened" : ""
    self.init(Code(error), error.message + suffix)
  }

  /// A setting of sharing that cannot be used.
  package static func unusable(_ reason: String) -> Self { Self(.invalidAddress, reason) }
}

extension PreferencesError.Code {
  fileprivate init(_ error: EtcdError) {
    self =
      switch error.code {
      case _ where error.mayHaveHappened: .outcomeUnknown
      case .invalidAddress: .invalidAddress
      case .noLibrary, .unreachable: .unreachable
      case .certificate: .certificate
      case .timedOut, .cancelled: .timedOut
      case .wrongPassword: .wrongPassword
      case .passwordUnavailable: .locked
      case .permissionDenied: .accessDenied
      case .noSpace, .tooLarge: .overQuota
      case .compacted: .conflict
      case .notFound, .protocolViolation: .damaged
      case .forked: .forked
      }
  }
}

/// Evaluates an expression that uses files, and translates its failure.
func translated<Result: ~Copyable>(
  _ result: @autoclosure () throws(FileError) -> Result
) throws(PreferencesError) -> Result {
  do { return try result() } catch { throw PreferencesError(error) }
}
