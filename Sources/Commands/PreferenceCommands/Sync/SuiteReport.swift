internal import FoundationEssentials
internal import PreferencesDurable
internal import PreferencesShared
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// How a suite stands, in words and in JSON.
struct SuiteReport {
  let health: SuiteHealth
  private let suite: SharedSuite
  /// `nil` as long as no program has begun to share it.
  private let status: SyncStatus?
  /// The newest changes that were given up, the newest first.
  private let lost: [JournalEntry]

  init(
    _ suite: SharedSuite, unsentWithin limit: Duration, path: String
  ) throws(PreferencesError) {
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
    // Who may only read has no trouble with that.
    if let report = state.report, status.trouble != nil {
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
  /// The members of a suite's JSON that programs look at to know whether all is well.
  var json: [(String, JSONValue)] {
    [
      ("healthy", .bool(problem == nil)), ("code", .number("\(code)")),
      ("problem", problem.map { .string($0.message) } ?? .null),
    ]
  }
}

extension JSONValue {
  /// A date in ISO 8601; null if there is none.
  static func date(_ date: Date?) -> JSONValue {
    date.map { .string(DateText.text($0)) } ?? .null
  }
}
