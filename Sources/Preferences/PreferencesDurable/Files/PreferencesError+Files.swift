package import Prephirences
package import PrephirencesSystem
internal import SystemPackage

extension PreferencesError {
  /// The failure of a file, as one of preferences: the one place where it is translated.
  package init(_ error: FileError) {
    let advice =
      switch error.kind {
      case .noPlace: "; set HOME or XDG_CONFIG_HOME to a folder of the user"
      case .insecure(.notRegular): "; move it away"
      default: error.advice.map { "; \($0)" } ?? ""
      }
    self.init(
      Code(error), error.message + advice, systemCode: error.systemError.map { $0.rawValue })
  }

  /// The failure that another process has the writers' lock; `nil` if it cannot be seen which.
  static func timedOut(_ holder: RunningProcess?, _ path: String) -> Self {
    guard let holder else {
      return .timedOut("another process used the preferences for too long", path)
    }
    guard holder.isStopped else {
      return .timedOut("process \(holder.number) used the preferences for too long", path)
    }
    return Self(
      .timedOut,
      "process \(holder.number) uses the preferences, but it is stopped; continue it (SIGCONT) or end "
        + "it, and try again: \(path)")
  }

  static func timedOut(_ reason: String, _ path: String) -> Self {
    Self(
      .timedOut,
      "\(reason); try again, and begin transactions that contain each other, of several suites, "
        + "always in the same order: \(path)")
  }

  static func unstorable(_ type: Any.Type, forKey key: PreferenceKey) -> Self {
    Self(
      .unstorable,
      "the value of the key '\(key)' is of type \(type), or has one in it, which cannot be stored; "
        + "store its raw value or its encoding")
  }
}

extension PreferencesError.Code {
  fileprivate init(_ error: FileError) {
    self =
      switch error.kind {
      case .failed(_, .readOnlyFileSystem): .readOnly
      case .failed(_, .permissionDenied): .readOnly
      case .failed, .alreadyExists: .inputOutput
      case .unsynced: .outcomeUnknown
      case .timedOut, .endless: .timedOut
      case .invalidPath, .notText: .invalidName
      case .noPlace: .noPlace
      case .insecure: .insecure
      }
  }
}

/// Evaluates an expression that uses files, and translates its failure.
func translated<Result: ~Copyable>(
  _ result: @autoclosure () throws(FileError) -> Result
) throws(PreferencesError) -> Result {
  do { return try result() } catch { throw PreferencesError(error) }
}
