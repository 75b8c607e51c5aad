internal import PreferencesDurable
internal import PreferencesShared
internal import PreferencesCore
internal import PrephirencesSystem

/// Finds out whether a copy has everything that the engine had when the comparison began.
///
/// Revisions alone don't say that: an engine that was restored issues them again, for other rows.
struct CopyComparison {
  private let suite: SharedSuite
  private let replica: SharedReplica
  private let store: DirectStore
  private let known: [UInt8]?

  /// The copy as it was.
  private let start: [[UInt8]: SharedRow]
  private var engine: DirectStore.Contents
  /// The keys that the copy has not had yet as the engine has them.
  private var open: Set<[UInt8]>

  private var pause = Duration.milliseconds(40)
  private var nextReading: ContinuousClock.Instant

  /// Reads what the engine has.
  init(
    _ suite: SharedSuite, _ replica: SharedReplica, _ deadline: Deadline
  ) throws(PreferencesError) {
    self.suite = suite
    self.replica = replica
    store = try suite.direct()
    // Before asking: a worker may give an empty store its identity meanwhile.
    known = try replica.state().identity
    start = try replica.shadow()
    engine = try Self.read(store, known, suite, deadline)
    open = Set(start.keys).union(engine.rows.keys)
    nextReading = .now + pause
  }

  /// Compares again.
  ///
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/foreignStore`` if the engine has
  ///   another store.
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

  /// Whether the copy has a row as the engine has it, or has got a later one meanwhile.
  private func isSettled(_ key: [UInt8], _ row: SharedRow?) -> Bool {
    guard row != engine.rows[key] else { return true }
    guard let row, row != start[key] else { return false }
    return row.revision > engine.revision
  }

  private static func read(
    _ store: DirectStore, _ known: [UInt8]?, _ suite: SharedSuite, _ deadline: Deadline
  ) throws(PreferencesError) -> DirectStore.Contents {
    let contents = try store.contents(deadline)
    guard known == nil || known == contents.identity else {
      throw PreferencesError(
        .foreignStore,
        "the store of '\(suite.name)' is another one than this machine was in step with, or has no "
          + "identity; nothing was sent or deleted")
    }
    return contents
  }
}
