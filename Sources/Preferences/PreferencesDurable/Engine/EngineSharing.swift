internal import FoundationEssentials
internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem
internal import SystemPackage

extension Engine {
  /// Refuses local changes of a shared file that its rules don't allow, and makes a transaction a
  /// batch.
  func admit(_ transaction: WriteTransaction, _ state: OpenDatabase.State) throws {
    let rules: SharingRules
    if let known = self.rules, known.number == state.sharing {
      rules = known
    } else {
      rules = try SharingRules(transaction.database, number: state.sharing)
      self.rules = rules
    }
    try rules.check(transaction)
    let growth = SharedTotals.Growth(transaction.changes)
    if growth.keys > 0 || growth.bytes > 0 {
      var counted = totals?.adding(growth, of: transaction)
      if counted == nil { counted = try SharedTotals(counting: transaction) }
      if let counted { try rules.check(counted, after: growth) }
      transaction.totals = counted
    }
    if transaction.keepsBatches { try transaction.closeBatch() }
  }

  /// Changes what a file says about sharing, in one transaction.
  func maintain<Result>(
    creating: Bool = false, _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    try ForkMark.preferences.check(PreferencesError.forked)
    return try locked {
      guard ownTransaction == nil else {
        throw PreferencesError(
          .conflict, "sharing cannot be changed within a transaction; do so after it")
      }
      if !creating { _ = try presentDatabase() }
      return try changing { database, state in
        let transaction = WriteTransaction(
          database, generation: state.generation + 1, isObserved: !observers.isEmpty)
        let result = try withTransaction(transaction, body)
        try transaction.checkFailure()
        try transaction.endApplying()
        if transaction.isEmpty {
          try database.connection.run("COMMIT")
          noteUncopiedChanges(of: database)
          try? checkpointIfNeeded(database)
        } else {
          try commit(transaction)
        }
        return result
      }
    }
  }

  /// Returns whether the values may have come from other machines, also if the file cannot be
  /// changed here.
  func isShared() throws -> Bool {
    try ForkMark.preferences.check(PreferencesError.forked)
    return try locked {
      if let transaction = ownTransaction { return transaction.database.isShared }
      try look(forWriting: false)
      switch source {
      case .database(let database): return try read(database) { database.isShared }
      case .propertyList(let loaded), .snapshot(let loaded), .left(let loaded):
        return loaded.isShared
      case .unknown: return false
      }
    }
  }

  /// Reads what a file says about sharing, in one transaction.
  ///
  /// Returns `nil` if there is no file.
  func inspect<Result>(
    _ body: (OpenDatabase, OpenDatabase.State) throws -> Result
  ) throws -> Result? {
    try ForkMark.preferences.check(PreferencesError.forked)
    return try locked {
      if let transaction = ownTransaction {
        return try body(transaction.database, transaction.database.state())
      }
      guard let database = try presentDatabase() else { return nil }
      return try read(database) { try body(database, database.state()) }
    }
  }

  private func presentDatabase() throws -> OpenDatabase? {
    try look(forWriting: false)
    switch source {
    case .database(let database): return database
    case .snapshot:
      throw PreferencesError(
        .readOnly,
        "the file cannot be changed here, and so its sharing cannot be used; "
          + "make the file and its folder writable: \(file.path)")
    case .propertyList, .left, .unknown: return nil
    }
  }
}

extension WriteTransaction {
  /// Stores a value that comes from elsewhere, and so is not logged.
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

// The triggers log each change of a shared file as a single one (batch 0). If the transaction changes
// several keys, these become a batch; a value that was unsent before must then not go with it.
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

  /// Replaces the value that was unsent before, as a change without a transaction does.
  private func joinUnsentValue(of key: KeyBytes) throws {
    guard let batch = batchesBefore[key], batch != 0 else { return }
    try replaceChange(of: batch, key)
  }

  /// Drops a single change, in whose place the later one of its key is, which keeps its turn.
  func replaceChange(of batch: Int64, _ key: KeyBytes) throws {
    try connection.run(
      """
      UPDATE log SET (generation, since) = (SELECT generation, since FROM log AS earlier \
      WHERE earlier.unit = ? AND earlier.key = log.key) WHERE unit = 0 AND key = ?
      """, .integer(batch), .bytes(key.bytes))
    try connection.run("DELETE FROM log WHERE unit = ?", .integer(batch))
    try connection.run("DELETE FROM unit WHERE id = ?", .integer(batch))
  }

  /// Makes a batch that waits to be sent, later than all others.
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

/// What the local changes of a shared file must keep to.
struct SharingRules {
  /// The number in `state` that these rules have.
  let number: Int64
  let quota: SharingQuota
  let isReadOnly: Bool

  init(_ database: OpenDatabase, number: Int64) throws {
    var found: (settings: SharingSettings, isReadOnly: Bool)?
    try database.connection.run("SELECT settings, closed FROM sync") { row in
      let bytes = Data(row.bytes(0))
      guard let settings = try? JSONDecoder().decode(SharingSettings.self, from: bytes) else {
        return
      }
      found = (settings, row.integer(1) != 0)
    }
    guard let found else { throw PreferencesError.damagedSharing(database.connection.path) }
    self.number = number
    quota = found.settings.quota
    isReadOnly = found.isReadOnly
  }

  func check(_ transaction: WriteTransaction) throws {
    try check(transaction.changes, transaction)
  }

  /// Checks those of a transaction's changes that this machine makes.
  func check(_ changes: [WriteTransaction.Change], _ transaction: WriteTransaction) throws {
    guard !isReadOnly else {
      throw PreferencesError(
        .readOnly,
        "this user may read the shared preferences, but not change them; "
          + "ask who runs the shared store: \(transaction.database.connection.path)")
    }
    for change in changes {
      guard let size = change.new?.bytes.count else { continue }
      guard change.old != nil || change.key.text.utf8.count <= quota.keyBytes else {
        throw PreferencesError.overQuota(
          "a key is longer than the \(quota.keyBytes) bytes that shared preferences allow; "
            + "shorten it: '\(change.key.text.prefix(100))'")
      }
      guard size <= quota.valueBytes || size <= change.old?.bytes.count ?? 0 else {
        throw PreferencesError.overQuota(
          "the value of the key '\(change.key.text)' is larger than the \(quota.valueBytes) bytes "
            + "that shared preferences allow; store less")
      }
    }
  }

  /// Refuses values that a program has decided, as others that it sets.
  func check(decided changes: [WriteTransaction.Change], _ transaction: WriteTransaction) throws {
    try check(changes, transaction)
    let growth = SharedTotals.Growth(changes)
    guard growth.keys > 0 || growth.bytes > 0 else { return }
    try check(SharedTotals(counting: transaction), after: growth)
  }

  /// Refuses what grows the preferences beyond the quota.
  func check(_ totals: SharedTotals, after growth: SharedTotals.Growth) throws {
    guard growth.keys <= 0 || totals.keys <= quota.keys else {
      throw PreferencesError.overQuota(
        "shared preferences would have more than \(quota.keys) keys; remove some first")
    }
    guard growth.bytes <= 0 || totals.bytes <= quota.bytes else {
      throw PreferencesError.overQuota(
        "shared preferences would be larger than \(quota.bytes) bytes; remove some first")
    }
  }
}

extension PreferencesError {
  static func overQuota(_ message: String) -> Self { Self(.overQuota, message) }

  static func damagedSharing(_ path: String) -> Self {
    Self(
      .damaged,
      "what the file says about sharing is damaged; move the file away, or restore a copy: \(path)")
  }
}

/// How a file is shared.
package struct SharingSettings: Hashable, Sendable, Codable {
  package var quota = SharingQuota()
  /// Whether conflicts wait for a program that decides them; otherwise the engine's order wins.
  package var programDecides = false
  /// Where the file is shared: a text that differs for different configurations.
  package var place: String?
  package init() {}
}

/// What a shared store may hold, checked when this machine writes.
///
/// Only what adds keys or bytes is refused: what others have written may exceed the quota.
package struct SharingQuota: Hashable, Sendable, Codable {
  package var keys = 1024
  /// Of all keys and values.
  package var bytes = 1 << 20
  package var valueBytes = 1 << 20
  package var keyBytes = 64
  package init() {}
}

/// What the changes of one transaction may be, since they are sent as one.
enum BatchLimit {
  static let keys = 120
  static let bytes = 1 << 20

  /// What a row has before its value.
  static let rowHeader = 42
}

/// How much a shared file has, so that a change needs no count of all keys.
struct SharedTotals {
  private(set) var generation: Int64
  private(set) var keys: Int
  private(set) var bytes: Int

  /// What a transaction adds.
  struct Growth {
    var keys = 0
    var bytes = 0

    init(_ changes: [WriteTransaction.Change]) {
      for change in changes {
        bytes += (change.new?.bytes.count ?? 0) - (change.old?.bytes.count ?? 0)
        let keySize = change.key.text.utf8.count
        switch (change.old, change.new) {
        case (nil, _?): (keys, bytes) = (keys + 1, bytes + keySize)
        case (_?, nil): (keys, bytes) = (keys - 1, bytes - keySize)
        default: break
        }
      }
    }
  }

  /// Counts what there is, with the changes of a transaction.
  init(counting transaction: WriteTransaction) throws {
    var counted = (keys: 0, bytes: 0)
    try transaction.database.connection.run(
      "SELECT count(*), sum(length(key) + length(value)) FROM preference WHERE kind != 0"
    ) { row in counted = (Int(row.integer(0) ?? 0), Int(row.integer(1) ?? 0)) }
    generation = transaction.generation
    (keys, bytes) = counted
  }

  /// Returns the totals after a transaction; `nil` if they are not known.
  func adding(_ growth: Growth, of transaction: WriteTransaction) -> Self? {
    guard generation == transaction.generation - 1, !transaction.hasUnlistedChanges else {
      return nil
    }
    var next = self
    next.generation = transaction.generation
    next.keys += growth.keys
    next.bytes += growth.bytes
    return next
  }
}
