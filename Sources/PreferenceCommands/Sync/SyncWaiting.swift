internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesDurable
internal import PrephirencesFiles
internal import PrephirencesShared

/// Waits for a suite to be in step.
struct SyncWaiting {
  private let suite: SharedSuite
  private let shared: SharedPreferences

  init(_ suite: SharedSuite, _ shared: SharedPreferences) {
    self.suite = suite
    self.shared = shared
  }

  /// Sends what is unsent, and waits for what others have changed.
  ///
  /// - Throws: The failure, with ``ExitCodes/tryAgain`` if it may be over later.
  func bringInStep(_ deadline: Deadline) throws {
    do throws(PreferencesError) {
      let worker = try worker()
      worker.wake()
      let (newest, identity) = try suite.direct().newestRevision(deadline)
      if let known = try shared.replica.state().identity, known != identity {
        throw PreferencesError(
          .foreignStore,
          "the store of '\(suite.name)' is another one than this machine was in step with, or has no "
            + "identity; nothing was sent or deleted")
      }
      try worker.flush(deadline)
      while try shared.replica.state().revision < newest {
        guard !deadline.hasPassed else {
          throw PreferencesError(.timedOut, "what others have changed has not come in time")
        }
        Deadline.pause(upTo: 20)
      }
    } catch {
      switch error.code {
      case .unreachable, .timedOut, .conflict: throw CommandLineError.notInStep(suite.name, error, unsent)
      case .foreignStore: throw CommandLineError.foreignStore(suite.name, error)
      default: throw error
      }
    }
  }

  /// Takes the store that is there now.
  func adopt(_ deadline: Deadline) throws {
    let worker = try worker()
    try worker.adopt(deadline)
    worker.wake()
  }

  private func worker() throws(PreferencesError) -> SyncWorker {
    if let worker = shared.worker { return worker }
    throw shared.lastError
      ?? PreferencesError(.notFound, "the preferences '\(suite.name)' are no longer shared")
  }

  /// The number of unsent keys; `nil` if it cannot be found out.
  private var unsent: Int? { try? shared.replica.state().unsentKeys }
}

extension CommandLineError {
  fileprivate static func foreignStore(_ suite: String, _ error: PreferencesError) -> Self {
    let path = PreferenceCommandContext.current.commandPath
    return Self(
      error.exitCode, error.message,
      hint: "check the address; '\(path) sync adopt \(ShellText.quoted(suite))' shares with that store")
  }

  fileprivate static func notInStep(
    _ suite: String, _ error: PreferencesError, _ unsent: Int?
  ) -> Self {
    let kept = unsent.map {
      $0 == 0 ? "; nothing is unsent" : "; \(Words.counted($0, "key")) \(Words.are($0)) unsent"
    }
    return Self(
      ExitCodes.tryAgain, "'\(suite)' is not in step: \(error.message)\(kept ?? "")",
      hint: unsent == 0 ? nil : "what is unsent is kept, and sent later")
  }
}
