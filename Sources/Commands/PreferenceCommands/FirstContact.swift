internal import PreferencesCore
internal import PreferencesDurable
internal import PreferencesShared
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The state that a machine finds before it shares a suite.
struct FirstContact {
  private let suite: SharedSuite

  init(_ suite: SharedSuite) { self.suite = suite }

  /// Tries the connection, and reports what the first contact will do.
  func report(
    to session: SharingSession, isAdopted: Bool = false, showing form: ValueDifference.Form? = nil
  ) throws {
    let direct = try suite.direct()
    let theirs = Dictionary(try direct.fetchPairs().map(Self.entry)) { $1 }
    if direct.isWithoutAuthentication == true {
      session.interface.say(
        "this cluster asks nobody for a password: anyone who reaches it can read and change "
          + "everything")
    }
    let found = "the store '\(suite.store)' has \(Words.counted(theirs.count, "key"))"
    if try suite.replica.isShared(), let known = try suite.replica.state().identity,
      case let isKnown = try direct.identity().map({ StoreIdentity.isSame($0, known) }) ?? false,
      isKnown || !isAdopted
    {
      if let form { try KeyOutcome.write([], as: form, to: session.output) }
      return session.interface.say(
        found
          + (!isKnown
            ? "; it is not the one that this machine was in step with: nothing will be sent or "
              + "come before '\(session.path) adopt \(ShellText.quoted(suite.name))'"
            : isAdopted
              ? "; it is the one that this machine knows, which is not adopted again" : ""))
    }
    let outcomes = KeyOutcome.all(
      try values(), theirs, isDecided: suite.configuration.programDecides == true)
    if let form { try KeyOutcome.write(outcomes, as: form, to: session.output) }
    let parts = KeyOutcome.Word.allCases.compactMap { word in
      let count = outcomes.count { $0.word == word }
      return count == 0 ? nil : "\(Words.counted(count, "key")) \(word.phrase)"
    }
    session.interface.say(([found] + parts).joined(separator: "; "))
  }

  private func values() throws -> KeyOutcome.Values {
    let preferences = DurablePreferences(suiteName: suite.name)
    guard try preferences.storedPath() != nil else { return [:] }
    return Dictionary(try preferences.fetchPairs().map(Self.entry)) { $1 }
  }

  private static func entry(
    _ key: String, _ value: PreferenceValue
  ) -> ([UInt8], KeyOutcome.Values.Value) {
    (Array(key.utf8), (key, ShownValue(value)))
  }
}

/// What the first contact will do to a key.
private struct KeyOutcome {
  /// The values by the bytes of their keys.
  typealias Values = [[UInt8]: (key: PreferenceKey, value: ShownValue)]

  enum Word: String, CaseIterable {
    case sent, comes, waits, lost

    var phrase: String {
      switch self {
      case .sent: "will be sent"
      case .comes: "will come"
      case .waits: "with two values will wait for a program's decision"
      case .lost: "with two values will get those of the store"
      }
    }
  }

  let word: Word
  let here: Values.Value?
  let store: Values.Value?

  /// Returns what happens to all keys whose values differ, sorted by their bytes.
  static func all(_ here: Values, _ store: Values, isDecided: Bool) -> [KeyOutcome] {
    Set(here.keys).union(store.keys).sorted { $0.lexicographicallyPrecedes($1) }.compactMap { key in
      guard let ours = here[key] else {
        return KeyOutcome(word: .comes, here: nil, store: store[key])
      }
      guard let theirs = store[key] else { return KeyOutcome(word: .sent, here: ours, store: nil) }
      if ours.value.isSame(as: theirs.value) { return nil }
      return KeyOutcome(word: isDecided ? .waits : .lost, here: ours, store: theirs)
    }
  }

  static func write(
    _ outcomes: [KeyOutcome], as form: ValueDifference.Form, to output: ValueOutput
  ) throws {
    if form == .json { return try output.write(.array(outcomes.map(\.json))) }
    try output.write(
      TextTable(
        header: ["CHANGE", "KEY", "WHERE", "TYPE", "VALUE"], rows: outcomes.flatMap(\.rows),
        nameCount: 2))
  }

  private var rows: [[String]] {
    [("here", here), ("store", store)].compactMap { place, entry in
      entry.flatMap { key, value in value.words.map { [word.rawValue, key, place] + $0 } }
    }
  }

  private var json: JSONValue {
    .object([
      ("key", .string((here ?? store)?.key ?? "")), ("change", .string(word.rawValue)),
      ("here", (here?.value ?? .absent).json), ("store", (store?.value ?? .absent).json),
    ])
  }
}

/// Finds out whether a copy has everything that the engine had when the comparison began.
///
/// Revisions alone don't show that, because a restored engine uses them again for other rows.
struct CopyComparison {
  private let suite: SharedSuite
  private let replica: SharedReplica
  private let store: DirectStore
  private let known: [UInt8]?

  private let start: [[UInt8]: SharedRow]
  private var engine: DirectStore.Contents
  /// The keys whose row on the engine the copy does not have yet.
  private var open: Set<[UInt8]>

  private var pause = Duration.milliseconds(40)
  private var nextReading: ContinuousClock.Instant

  init(
    _ suite: SharedSuite, _ replica: SharedReplica, _ deadline: Deadline
  ) throws(PreferencesError) {
    self.suite = suite
    self.replica = replica
    store = try suite.direct()
    // Read before asking: a worker may give an empty store its identity meanwhile.
    known = try replica.state().identity
    start = try replica.shadow()
    engine = try Self.read(store, known, suite, deadline)
    open = Set(start.keys).union(engine.rows.keys)
    nextReading = .now + pause
  }

  mutating func isInStep(_ deadline: Deadline) throws(PreferencesError) -> Bool {
    if try replica.state().revision >= engine.revision {
      let copy = try replica.shadow()
      open = open.filter { !isSettled($0, copy[$0]) }
      if open.isEmpty { return true }
    }
    // The engine has older rows than the copy, or newer ones.
    if ContinuousClock.now >= nextReading {
      engine = try Self.read(store, known, suite, deadline)
      pause = min(pause * 2, .seconds(1))
      nextReading = .now + pause
    }
    return false
  }

  /// Whether the copy has the engine's row, or has received a later one.
  private func isSettled(_ key: [UInt8], _ row: SharedRow?) -> Bool {
    guard row != engine.rows[key] else { return true }
    guard let row, row != start[key] else { return false }
    return row.revision > engine.revision
  }

  private static func read(
    _ store: DirectStore, _ known: [UInt8]?, _ suite: SharedSuite, _ deadline: Deadline
  ) throws(PreferencesError) -> DirectStore.Contents {
    let contents = try store.contents(deadline)
    guard let known else { return contents }
    guard contents.identity.map({ StoreIdentity.isSame($0, known) }) ?? false else {
      throw PreferencesError(
        .foreignStore,
        "the store of '\(suite.name)' is not the one that this machine was in step with, or has no "
          + "identity; nothing was sent or deleted")
    }
    return contents
  }
}
