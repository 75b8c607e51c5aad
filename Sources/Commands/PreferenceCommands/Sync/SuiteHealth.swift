internal import FoundationEssentials
internal import PreferencesShared
internal import Prephirences
internal import PrephirencesCommandLine

/// What is not well with a suite, as this machine knows it.
struct SuiteHealth {
  /// A problem, with the exit code that a command would end with because of it.
  struct Problem {
    let code: Int32
    let message: String
  }

  /// How long a change may be unsent before that is a problem, unless somebody says otherwise.
  static let unsentLimit = Duration.seconds(300)

  /// The worst problem; `nil` if all is well.
  private(set) var problem: Problem?

  var code: Int32 { problem?.code ?? ExitCodes.success }

  /// - Parameters:
  ///   - status: How the suite stands; `nil` as long as no program has begun to share it.
  ///   - limit: How long a change may be unsent.
  ///   - path: The words before the name of a command of `sync`.
  init(_ status: SyncStatus?, unsentWithin limit: Duration, path: String) {
    guard let status else {
      add(ExitCodes.tryAgain, "no program has begun to share it; '\(path) run' does")
      return
    }
    let state = status.state
    if let trouble = status.trouble { add(trouble) }
    if let failure = status.senderFailure {
      let since = state.report?.lastContact.map { ", last in step \(DateText.text($0))" } ?? ""
      let hint = status.process == nil ? "; '\(path) run' does" : ""
      add(failure.exitCode, failure.message + since + hint)
    }
    for failure in status.waitingFailures { add(failure) }
    if !state.damagedKeys.isEmpty {
      add(
        ExitCodes.badData,
        "the rows of \(Words.counted(state.damagedKeys.count, "key")) in the store are damaged")
    }
    if !state.newerKeys.isEmpty {
      let keys = Words.counted(state.newerKeys.count, "key")
      add(ExitCodes.refused, "a newer release has written \(keys); install that release here")
    }
    // A time in the future is that of a clock that was set back: how long it was is not known.
    if let oldest = state.oldestUnsent, abs(oldest.timeIntervalSinceNow) > limit / .seconds(1) {
      let keys = Words.counted(state.unsentKeys, "key")
      add(
        ExitCodes.tryAgain,
        "\(keys) \(Words.are(state.unsentKeys)) unsent, the oldest since \(DateText.text(oldest))")
    }
  }

  /// The health of a suite whose settings or file cannot be used.
  init(_ failure: any Error) {
    let known = CommandHost.current.failure(of: failure)
    add(known?.exitCode ?? ExitCodes.internalFailure, known?.message ?? "the suite cannot be used")
  }

  private mutating func add(_ failure: PreferencesError) { add(failure.exitCode, failure.message) }

  private mutating func add(_ code: Int32, _ message: String) {
    guard problem.map({ Self.rank(code) > Self.rank($0.code) }) ?? true else { return }
    problem = Problem(code: code, message: message)
  }

  /// Returns the worse one of two codes.
  static func worse(_ one: Int32, _ other: Int32) -> Int32 {
    rank(one) >= rank(other) ? one : other
  }

  /// What may be over by itself is the least; what says that values are not what they should be is the
  /// worst.
  private static let order = [
    ExitCodes.success, ExitCodes.tryAgain, ExitCodes.outcomeUnknown, ExitCodes.noStore,
    ExitCodes.inputOutput, ExitCodes.notFound, ExitCodes.usage, ExitCodes.locked,
    ExitCodes.incorrectSecret, ExitCodes.refused, ExitCodes.badData,
  ]

  private static func rank(_ code: Int32) -> Int { order.firstIndex(of: code) ?? order.count }
}
