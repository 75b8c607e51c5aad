internal import FoundationEssentials
internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The status of a suite, in words and in JSON.
struct SuiteReport {
  let health: SuiteHealth
  private let suite: SharedSuite
  /// `nil` until a program has begun to share it.
  private let status: SyncStatus?
  /// The last changes that were given up, the newest first.
  private let lost: [ChangeFeedEntry]

  init(_ suite: SharedSuite, unsentWithin limit: Duration, path: String) throws(PreferencesError) {
    self.suite = suite
    status = try SyncStatus.of(suite.replica)
    lost = try status == nil ? [] : suite.replica.recentConflicts(Self.greatestLost)
    health = SuiteHealth(status, unsentWithin: limit, path: path)
  }

  private static let greatestLost = 5

  // MARK: - Text

  func facts(path: String) -> [(String, String)] {
    var facts = [
      ("suite", suite.name), ("store", "'\(suite.store)' at \(suite.configuration.address)"),
    ]
    guard let status else {
      return facts + [("in step", "never; '\(path) run' begins")]
    }
    let state = status.state
    facts.append(("sender", status.process.map { "process \($0)" } ?? "none; '\(path) run' sends"))
    if let failure = status.senderFailure, status.process != nil {
      facts.append(("not well", failure.message))
    }
    facts.append(("in step", state.report?.lastContact.map(DateText.text) ?? "never"))
    facts.append(("unsent", unsent(state)))
    for conflict in status.conflicts {
      facts.append(("waits", "\(names(conflict.values.map(\.key))): \(reason(conflict, state))"))
    }
    for unit in state.setAside {
      facts.append(("set aside", "\(names(unit.keys)): \(unit.message)"))
    }
    for entry in lost {
      facts.append(
        ("lost", "'\(entry.key)': given up for another machine's, \(DateText.text(entry.date))"))
    }
    if !state.newerKeys.isEmpty {
      facts.append(("newer", "\(names(state.newerKeys)): a newer release has written them"))
    }
    if !state.damagedKeys.isEmpty {
      facts.append(("damaged", "\(names(state.damagedKeys)): their rows in the store are damaged"))
    }
    if state.isReadOnly {
      facts.append(("read-only", "this user may not change the store"))
    }
    // For a user who may only read, that is not a problem.
    if let report = state.report, status.problem != nil {
      let since = DateText.text(report.date)
      facts.append(("trouble", "\(report.message ?? "unknown"), since \(since)"))
    }
    return facts
  }

  private func unsent(_ state: SharingState) -> String {
    guard state.unsentKeys > 0 else { return "nothing" }
    let since = state.oldestUnsent.map { ", the oldest since \(DateText.text($0))" } ?? ""
    return "\(Words.counted(state.unsentKeys, "key")), \(Words.counted(state.unsentBytes, "byte"))"
      + since
  }

  private func reason(_ conflict: ReplicaConflict, _ state: SharingState) -> String {
    if !state.settings.programDecides, let message = conflict.message {
      return "changed here and elsewhere; \(message)"
    }
    let what = "changed here and elsewhere; a program that shares the suite decides"
    return conflict.message.map { "\(what); it failed: \($0)" } ?? what
  }

  private func names(_ keys: [PreferenceKey]) -> String {
    keys.map { "'\($0)'" }.joined(separator: ", ")
  }

  // MARK: - JSON

  var json: JSONValue {
    var members: [(String, JSONValue)] = [
      ("suite", .string(suite.name)), ("store", .string(suite.store)),
      ("address", .string(suite.configuration.address)), ("hasBegun", .bool(status != nil)),
    ]
    members += health.json
    guard let status else { return .object(members) }
    let state = status.state
    members += [
      ("sender", status.process.map { .number("\($0)") } ?? .null),
      ("lastContact", .date(state.report?.lastContact)),
      ("revision", .number("\(state.revision)")),
      ("unsentKeys", .number("\(state.unsentKeys)")),
      ("unsentBytes", .number("\(state.unsentBytes)")),
      ("oldestUnsent", .date(state.oldestUnsent)),
      ("readOnly", .bool(state.isReadOnly)),
      ("newerKeys", .texts(state.newerKeys)), ("damagedKeys", .texts(state.damagedKeys)),
    ]
    let waiting = status.conflicts.map { conflict in
      waits(conflict.values.map(\.key), "decision", conflict.message)
    }
    let aside = state.setAside.map { waits($0.keys, word($0.reason), $0.message) }
    members.append(("waiting", .array(waiting + aside)))
    let lost = lost.map { entry in
      JSONValue.object([("key", .string(entry.key)), ("time", .date(entry.date))])
    }
    members.append(("lost", .array(lost)))
    let trouble = state.report.flatMap { report in
      report.code.map { code in
        JSONValue.object([
          ("code", .string(code)), ("message", report.message.map(JSONValue.string) ?? .null),
          ("since", .date(report.date)),
        ])
      }
    }
    return .object(members + [("trouble", trouble ?? .null)])
  }

  private func waits(_ keys: [PreferenceKey], _ word: String, _ message: String?) -> JSONValue {
    .object([
      ("keys", .texts(keys)), ("for", .string(word)),
      ("message", message.map(JSONValue.string) ?? .null),
    ])
  }

  private func word(_ reason: SetAsideReason) -> String {
    switch reason {
    case .permission: "permission"
    case .newerForm: "newer release"
    case .damaged: "damaged row"
    case .tooLarge: "size"
    case .noSpace: "space"
    }
  }
}

extension SuiteHealth {
  /// The members of a suite's JSON that show whether all is well.
  var json: [(String, JSONValue)] {
    [
      ("healthy", .bool(problem == nil)), ("code", .number("\(code)")),
      ("problem", problem.map { .string($0.message) } ?? .null),
    ]
  }
}

extension JSONValue {
  /// A date in ISO 8601, or null.
  static func date(_ date: Date?) -> JSONValue {
    date.map { .string(DateText.text($0)) } ?? .null
  }
}

/// What is wrong with a suite, as this machine knows it.
struct SuiteHealth {
  /// A problem, with the exit code that a command would end with.
  struct Problem {
    let code: Int32
    let message: String
  }

  /// How long a change may be unsent by default before that is a problem.
  static let unsentLimit = Duration.seconds(300)

  /// The worst problem, or `nil` if all is well.
  private(set) var problem: Problem?

  var code: Int32 { problem?.code ?? ExitCodes.success }

  /// `status` is `nil` until a program has begun to share the suite; `path` has the words before
  /// the name of a command of `sync`.
  init(_ status: SyncStatus?, unsentWithin limit: Duration, path: String) {
    guard let status else {
      add(ExitCodes.tryAgain, "no program has begun to share it; '\(path) run' does")
      return
    }
    let state = status.state
    if let trouble = status.problem { add(trouble) }
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
    // A time in the future means that the clock was set back, so the age is unknown.
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

  /// Returns the worse of two codes.
  static func worse(_ one: Int32, _ other: Int32) -> Int32 {
    rank(one) >= rank(other) ? one : other
  }

  /// Temporary problems are the least, and wrong values are the worst.
  private static let order = [
    ExitCodes.success, ExitCodes.tryAgain, ExitCodes.outcomeUnknown, ExitCodes.noStore,
    ExitCodes.inputOutput, ExitCodes.notFound, ExitCodes.usage, ExitCodes.locked,
    ExitCodes.incorrectSecret, ExitCodes.refused, ExitCodes.badData,
  ]

  private static func rank(_ code: Int32) -> Int { order.firstIndex(of: code) ?? order.count }
}
