internal import Prephirences

/// The transaction of a writer, used under the engine's lock.
final class WriteTransaction {
  let database: OpenDatabase

  /// The generation that the changes will have.
  let generation: Int64

  /// Whether to find out all values that change.
  let isObserved: Bool

  /// The changes in order; a key may have several.
  private(set) var changes: [Change] = []

  /// Whether values have changed that `changes` doesn't list.
  private(set) var hasUnlistedChanges = false

  /// Whether the changes may become one unit of a shared file.
  let keepsUnits: Bool

  /// The units that were made for unsent values of keys that this transaction has changed, too.
  var unitsBefore: [KeyBytes: Int64] = [:]

  /// How much a shared file has afterwards, if that was found out.
  var totals: SharedTotals?

  /// Whether the changes come from elsewhere.
  var isApplying = false

  /// Whether other processes must look at the file, although no value has changed.
  var wakesOthers = false

  /// Why nothing is known of keys without a row: the values of `UserDefaults` are not imported.
  var importFailure: PreferencesError?

  /// Why nothing may be committed any more.
  private var failure: PreferencesError?

  struct Change {
    let key: KeyBytes
    let old: StoredValue?
    let new: StoredValue?
  }

  init(
    _ database: OpenDatabase, generation: Int64, isObserved: Bool, keepsUnits: Bool = false
  ) {
    self.database = database
    self.generation = generation
    self.isObserved = isObserved
    self.keepsUnits = keepsUnits
  }

  /// Performs changes of which, if the closure throws, none remains.
  func part<Result>(_ body: () throws -> Result) throws -> Result {
    let (count, hadUnlistedChanges) = (changes.count, hasUnlistedChanges)
    let unitsBefore = unitsBefore
    try run("SAVEPOINT part")
    do {
      let result = try body()
      try run("RELEASE part")
      return result
    } catch {
      do throws(PreferencesError) {
        try run("ROLLBACK TO part")
        try run("RELEASE part")
      } catch {
        failure = error
      }
      changes.removeLast(changes.count - count)
      hasUnlistedChanges = hadUnlistedChanges
      self.unitsBefore = unitsBefore
      throw error
    }
  }

  private func run(_ sql: String) throws(PreferencesError) {
    try failing { () throws(PreferencesError) in try database.connection.run(sql) }
  }

  var isEmpty: Bool { changes.isEmpty && !hasUnlistedChanges && !wakesOthers }

  func checkFailure() throws(PreferencesError) { if let failure { throw failure } }

  func stored(_ key: KeyBytes) throws(PreferencesError) -> StoredValue? {
    let stored = try failing { () throws(PreferencesError) in try database.stored(key) }
    if stored == nil { try requireKnown(key) }
    return stored
  }

  /// Fails if a key may have a value of `UserDefaults` that cannot be imported.
  private func requireKnown(_ key: KeyBytes) throws(PreferencesError) {
    guard let importFailure, !isApplying else { return }
    let hasRow = try failing { () throws(PreferencesError) in try database.hasRow(key) }
    if !hasRow { throw importFailure }
  }

  func value(_ key: KeyBytes) throws(PreferencesError) -> Any? {
    guard let stored = try stored(key) else { return nil }
    return try stored.decoded(forKey: key)
  }

  /// Sets the value of a key; `nil` removes it.
  func store(_ new: StoredValue?, for key: KeyBytes) throws(PreferencesError) {
    // Removed in vain: it would be imported later.
    if new == nil { try requireKnown(key) }
    try failing { () throws(PreferencesError) in
      let old = try database.stored(key)
      guard old != new else { return }
      if keepsUnits { try keepUnsentValue(of: key) }
      try write(new, for: key)
      changes.append(Change(key: key, old: old, new: new))
    }
  }

  /// Sets the value of a key that has never had one.
  func insert(_ new: StoredValue, for key: KeyBytes) throws(PreferencesError) {
    try failing { () throws(PreferencesError) in
      try database.connection.run(
        "INSERT OR IGNORE INTO preference(key, generation, kind, value) VALUES(?, ?, ?, ?)",
        .bytes(Array(key.text.utf8)), .integer(generation), .integer(Int64(new.kind.rawValue)),
        .bytes(new.bytes))
      hasUnlistedChanges = true
    }
  }

  /// Records that the property list was imported.
  func setImported() throws(PreferencesError) {
    hasUnlistedChanges = true
    try failing { () throws(PreferencesError) in
      try database.connection.run("UPDATE state SET imported = 1")
    }
  }

  func removeAll() throws(PreferencesError) {
    if let importFailure { throw importFailure }
    try failing { () throws(PreferencesError) in
      if isObserved || keepsUnits {
        try database.forEach { key, value throws(PreferencesError) in
          changes.append(Change(key: key, old: value, new: nil))
        }
      }
      if keepsUnits { for change in changes { try keepUnsentValue(of: change.key) } }
      hasUnlistedChanges = true
      try database.connection.run(
        "UPDATE preference SET kind = 0, value = x'', generation = ? WHERE kind != 0",
        .integer(generation))
    }
    try removeDamagedKeys()
  }

  /// Removes the rows whose key is not text in bytes, also from the log of a shared file.
  func removeDamagedKeys() throws(PreferencesError) {
    try failing { () throws(PreferencesError) in
      for table in database.isShared ? ["preference", "log"] : ["preference"] {
        for key in try database.damagedKeys(in: table) {
          hasUnlistedChanges = true
          try database.connection.run(
            "DELETE FROM \(table) WHERE key = ? OR typeof(key) != 'blob'", .bytes(key))
        }
      }
    }
  }

  /// Forgets the oldest removals, so that they don't fill the file.
  ///
  /// - Returns: The generation up to which removals are forgotten; `nil` if none is.
  func forgetRemovals(keeping count: Int64) throws(PreferencesError) -> Int64? {
    var floor: Int64?
    try database.connection.run(
      "SELECT generation FROM preference WHERE kind = 0 ORDER BY generation DESC LIMIT 1 OFFSET ?",
      .integer(count)
    ) { row in floor = row.integer(0) }
    guard let floor else { return nil }
    try database.connection.run(
      "DELETE FROM preference WHERE kind = 0 AND generation <= ?", .integer(floor))
    return floor
  }

  private func write(_ new: StoredValue?, for key: KeyBytes) throws(PreferencesError) {
    try database.connection.run(
      """
      INSERT INTO preference(key, generation, kind, value) VALUES(?, ?, ?, ?) \
      ON CONFLICT(key) DO UPDATE SET generation = excluded.generation, kind = excluded.kind, \
      value = excluded.value
      """, .bytes(Array(key.text.utf8)), .integer(generation),
      .integer(Int64((new?.kind ?? .removed).rawValue)), .bytes(new?.bytes ?? []))
  }

  /// After a failure, SQLite may have undone a part.
  private func failing<Result>(
    _ body: () throws(PreferencesError) -> Result
  ) throws(PreferencesError) -> Result {
    try checkFailure()
    do throws(PreferencesError) {
      return try body()
    } catch {
      // A value that is too long, or damaged, leaves the transaction as it is.
      if error.code != .unstorable, error.code != .damaged || !database.connection.isInTransaction {
        failure = error
      }
      throw error
    }
  }
}
