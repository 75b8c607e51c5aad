internal import PreferencesCore

/// The transaction of a writer, used under the engine's lock.
final class WriteTransaction {
  let database: OpenDatabase

  /// The generation of the changes.
  let generation: Int64

  /// Whether to read all values that change.
  let isObserved: Bool

  /// The changes in order; a key may have several.
  private(set) var changes: [Change] = []

  /// Whether values have changed that `changes` doesn't list.
  private(set) var hasUnlistedChanges = false

  /// Whether the changes may become one batch of a shared file.
  let keepsBatches: Bool

  /// The batches of earlier unsent values of keys that this transaction has changed.
  var batchesBefore: [KeyBytes: Int64] = [:]

  /// The totals of a shared file afterwards, if they were found out.
  var totals: SharedTotals?

  /// Whether the changes come from elsewhere.
  var isApplying = false

  /// Whether other processes must check the file, although no value has changed.
  var wakesOthers = false

  /// Why keys without a row are unknown: the values of `UserDefaults` are not imported.
  var importFailure: PreferencesError?

  /// Why nothing may be committed any more.
  private var failure: PreferencesError?

  struct Change {
    let key: KeyBytes
    let old: PreferenceValue.Encoded?
    let new: PreferenceValue.Encoded?
  }

  init(_ database: OpenDatabase, generation: Int64, isObserved: Bool, keepsBatches: Bool = false) {
    self.database = database
    self.generation = generation
    self.isObserved = isObserved
    self.keepsBatches = keepsBatches
  }

  /// Performs changes; if the closure throws, none remains.
  func part<Result>(_ body: () throws -> Result) throws -> Result {
    let (count, hadUnlistedChanges) = (changes.count, hasUnlistedChanges)
    let batchesBefore = batchesBefore
    try run("SAVEPOINT part")
    do {
      let result = try body()
      try run("RELEASE part")
      return result
    } catch {
      do {
        try run("ROLLBACK TO part")
        try run("RELEASE part")
      } catch {
        failure = .any(error)
      }
      changes.removeLast(changes.count - count)
      hasUnlistedChanges = hadUnlistedChanges
      self.batchesBefore = batchesBefore
      throw error
    }
  }

  private func run(_ sql: String) throws {
    try failing { try database.connection.run(sql) }
  }

  var isEmpty: Bool { changes.isEmpty && !hasUnlistedChanges && !wakesOthers }

  func checkFailure() throws { if let failure { throw failure } }

  func stored(_ key: KeyBytes) throws -> PreferenceValue.Encoded? {
    let stored = try failing { try database.stored(key) }
    if stored == nil { try requireKnown(key) }
    return stored
  }

  /// Fails if a key may have a value of `UserDefaults` that cannot be imported.
  private func requireKnown(_ key: KeyBytes) throws {
    guard let importFailure, !isApplying else { return }
    let hasRow = try failing { try database.hasRow(key) }
    if !hasRow { throw importFailure }
  }

  func value(_ key: KeyBytes) throws -> PreferenceValue? {
    guard let stored = try stored(key) else { return nil }
    return try stored.decoded(forKey: key)
  }

  /// Sets the value of a key; `nil` removes it.
  func store(_ new: PreferenceValue.Encoded?, for key: KeyBytes) throws {
    // Removing is not enough: the value would be imported later.
    if new == nil { try requireKnown(key) }
    try failing {
      let old = try database.stored(key)
      guard old != new else { return }
      if keepsBatches { try keepUnsentValue(of: key) }
      try write(new, for: key)
      changes.append(Change(key: key, old: old, new: new))
    }
  }

  /// Sets the first value of a key.
  func insert(_ new: PreferenceValue.Encoded, for key: KeyBytes) throws {
    try failing {
      try database.connection.run(
        "INSERT OR IGNORE INTO preference(key, generation, kind, value) VALUES(?, ?, ?, ?)",
        .bytes(Array(key.text.utf8)), .integer(generation), .integer(Int64(new.kind.rawValue)),
        .bytes(new.bytes))
      hasUnlistedChanges = true
    }
  }

  func setImported() throws {
    hasUnlistedChanges = true
    try failing {
      try database.connection.run("UPDATE state SET imported = 1")
    }
  }

  func removeAll() throws {
    if let importFailure { throw importFailure }
    try failing {
      if isObserved || keepsBatches {
        try database.forEach { key, value in
          changes.append(Change(key: key, old: value, new: nil))
        }
      }
      if keepsBatches { for change in changes { try keepUnsentValue(of: change.key) } }
      hasUnlistedChanges = true
      try database.connection.run(
        "UPDATE preference SET kind = 0, value = x'', generation = ? WHERE kind != 0",
        .integer(generation))
    }
    try removeDamagedKeys()
  }

  /// Removes rows whose key is not text in bytes, also from the log of a shared file.
  func removeDamagedKeys() throws {
    try failing {
      for table in database.isShared ? ["preference", "log"] : ["preference"] {
        for key in try database.damagedKeys(in: table) {
          hasUnlistedChanges = true
          try database.connection.run(
            "DELETE FROM \(table) WHERE key = ? OR typeof(key) != 'blob'", .bytes(key))
        }
      }
    }
  }

  /// Forgets the oldest removals, so that they don't fill the file; returns `nil` if there are
  /// none.
  func forgetRemovals(keeping count: Int64) throws -> Int64? {
    let floor = try database.connection.first(
      "SELECT generation FROM preference WHERE kind = 0 ORDER BY generation DESC LIMIT 1 OFFSET ?",
      .integer(count)
    ) { $0.integer(0) }
    guard let floor else { return nil }
    try database.connection.run(
      "DELETE FROM preference WHERE kind = 0 AND generation <= ?", .integer(floor))
    return floor
  }

  private func write(_ new: PreferenceValue.Encoded?, for key: KeyBytes) throws {
    try database.connection.run(
      """
      INSERT INTO preference(key, generation, kind, value) VALUES(?, ?, ?, ?) \
      ON CONFLICT(key) DO UPDATE SET generation = excluded.generation, kind = excluded.kind, \
      value = excluded.value
      """, .bytes(Array(key.text.utf8)), .integer(generation),
      .integer(Int64((new?.kind ?? .removed).rawValue)), .bytes(new?.bytes ?? []))
  }

  /// Converts a failure, after which SQLite may have undone a part.
  private func failing<Result>(_ body: () throws -> Result) throws -> Result {
    try checkFailure()
    do {
      return try body()
    } catch {
      let found = PreferencesError.any(error)
      // A value that is too long or damaged does not affect the transaction.
      if found.code != .unstorable, found.code != .damaged || !database.connection.isInTransaction {
        failure = found
      }
      throw error
    }
  }
}

extension WriteTransaction {
  /// Stores a value from elsewhere, which is not logged.
  func apply(_ new: PreferenceValue.Encoded?, for key: KeyBytes) throws -> Bool {
    if !isApplying { try toggleLogging() }
    isApplying = true
    let count = changes.count
    try store(new, for: key)
    return changes.count > count
  }

  func endApplying() throws {
    guard isApplying else { return }
    try toggleLogging()
    isApplying = false
  }

  private func toggleLogging() throws {
    try database.connection.run("UPDATE state SET sharing = -sharing")
  }
}

// The triggers log each change of a shared file as a single one (batch 0). If the transaction
// changes several keys, these become a batch, which must not include earlier unsent values.
extension WriteTransaction {
  /// Makes the unsent single value of a key a batch of its own.
  func keepUnsentValue(of key: KeyBytes) throws {
    guard batchesBefore[key] == nil else { return }
    guard
      try connection.exists("SELECT 1 FROM log WHERE unit = 0 AND key = ?", .bytes(key.bytes))
    else {
      batchesBefore[key] = 0
      return
    }
    let batch = try makeBatch(isAtomic: false)
    try move(key, to: batch)
    batchesBefore[key] = batch
  }

  /// Makes the changes one batch if they are of several keys.
  func closeBatch() throws {
    let changed = Dictionary(changes.map { ($0.key, $0.new) }) { _, last in last }
    guard changed.count > 1 else {
      if let key = changed.keys.first { try joinUnsentValue(of: key) }
      return
    }
    let size = changed.reduce(0) { size, change in
      size + change.key.text.utf8.count + BatchLimit.rowHeader + (change.value?.bytes.count ?? 0)
    }
    guard changed.count <= BatchLimit.keys, size <= BatchLimit.bytes else {
      throw PreferencesError.overQuota(
        "a transaction of shared preferences can change \(BatchLimit.keys) keys and "
          + "\(BatchLimit.bytes) bytes; divide it, or set the values outside of a transaction")
    }
    let batch = try makeBatch(isAtomic: true)
    for key in changed.keys { try move(key, to: batch) }
  }

  /// Replaces the earlier unsent value, as a change without a transaction does.
  private func joinUnsentValue(of key: KeyBytes) throws {
    guard let batch = batchesBefore[key], batch != 0 else { return }
    try replaceChange(of: batch, key)
  }

  /// Drops a single change that a later one of its key replaces; the later one keeps its turn.
  func replaceChange(of batch: Int64, _ key: KeyBytes) throws {
    try connection.run(
      """
      UPDATE log SET (generation, since) = (SELECT generation, since FROM log AS earlier \
      WHERE earlier.unit = ? AND earlier.key = log.key) WHERE unit = 0 AND key = ?
      """, .integer(batch), .bytes(key.bytes))
    try connection.run("DELETE FROM log WHERE unit = ?", .integer(batch))
    try connection.run("DELETE FROM unit WHERE id = ?", .integer(batch))
  }

  /// Makes a batch that is sent after all others.
  func makeBatch(isAtomic: Bool) throws -> Int64 {
    try connection.run("UPDATE sync SET units = units + 1")
    guard let batch = try connection.integer("SELECT units FROM sync") else {
      throw PreferencesError.damagedSharing(connection.path)
    }
    try connection.run(
      "INSERT INTO unit VALUES(?, ?, 0, x'', x'', x'')", .integer(batch), .integer(isAtomic ? 1 : 0)
    )
    return batch
  }

  /// Moves the single change of a key into a batch.
  func move(_ key: KeyBytes, to batch: Int64) throws {
    try connection.run(
      "UPDATE log SET unit = ? WHERE unit = 0 AND key = ?", .integer(batch), .bytes(key.bytes))
  }

  private var connection: SQLiteConnection { database.connection }
}
