internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem

extension Engine {
  /// Opens the database, and creates it if it is missing.
  func open() throws {
    try locked {
      guard ownTransaction == nil else { return }
      let isWritable = file.isWritable
      try look(forWriting: isWritable)
      guard case .database(let database) = source, isWritable, try !database.state().isImported
      else { return }
      hasTriedToImport = false
      _ = try write { _ in }
      if let importFailure { throw importFailure }
    }
  }

  /// Performs changes in one transaction: all of them, or none.
  ///
  /// Within a transaction of the same thread, they become a part of that.
  ///
  /// If only a part of them fails, they are undone there; `isOne` is `false` if they are a single
  /// change, which needs no such care. If `isBatch`, the changes of a shared file are sent as one. If
  /// `isRehearsal`, they are taken back, and ``Rehearsed`` is thrown where they would be committed. If
  /// `repeats`, the closure is called once more if the disk was full, and has room without the log.
  func write<Result>(
    asOne isOne: Bool = true, isBatch: Bool = false, isRehearsal: Bool = false,
    repeats: Bool = false, _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    try ForkMark.preferences.check(PreferencesError.forked)
    if let transaction = ownTransaction {
      try transaction.checkFailure()
      return isOne ? try transaction.part { try body(transaction) } : try body(transaction)
    }
    do {
      return try writeOnce(isBatch: isBatch, isRehearsal: isRehearsal, body)
    } catch let error as PreferencesError
      where repeats && error.isOfFullDisk && error.code != .outcomeUnknown
    {
      return try writeOnce(isBatch: isBatch, isRehearsal: isRehearsal, body)
    }
  }

  private func writeOnce<Result>(
    isBatch: Bool, isRehearsal: Bool, _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    try locked {
      do {
        return try changing { database, state in
          let transaction = WriteTransaction(
            database, generation: state.generation + 1, isObserved: !observers.isEmpty,
            keepsBatches: isBatch && state.sharing > 0)
          if !state.isImported { try importPropertyList(into: transaction) }
          let result = try withTransaction(transaction, body)
          try transaction.checkFailure()
          if transaction.isEmpty {
            database.connection.rollBack()
          } else {
            if state.sharing > 0 { try admit(transaction, state) }
            if isRehearsal { throw Rehearsed() }
            try commit(transaction)
          }
          return result
        }
      } catch {
        // What was to be imported with it is imported with the next change.
        if importFailure == nil { hasTriedToImport = false }
        throw error
      }
    }
  }

  /// Calls a closure, which ends the transaction, with the writers' lock; if it throws, the transaction
  /// is taken back.
  func changing<Result>(_ body: (OpenDatabase, OpenDatabase.State) throws -> Result) throws
    -> Result
  {
    let database = try lockedDatabase(Deadline(after: file.timeout))
    defer { database.counter.unlock() }
    try file.checkSidecars()
    try database.connection.run("BEGIN IMMEDIATE")
    do {
      let state = try database.latestState()
      try advance(to: state, database)
      return try body(database, state)
    } catch {
      database.connection.rollBack()
      if PreferencesError.any(error).isOfFullDisk { freeLog(database) }
      throw error
    }
  }

  /// Reports that changes would have been committed.
  private struct Rehearsed: Error {}

  /// Fails as changes would, without making them, and without creating a file.
  func rehearse(_ changes: [(key: KeyBytes, value: PreferenceValue.Encoded?)], isBatch: Bool) throws {
    try ForkMark.preferences.check(PreferencesError.forked)
    let isWithoutDatabase = try locked {
      try look(forWriting: false)
      guard case .propertyList = source else { return false }
      return true
    }
    if isWithoutDatabase {
      guard file.isWritable else { throw readOnly }
      return
    }
    do {
      try write(isBatch: isBatch, isRehearsal: true) { transaction in
        for (key, value) in changes { try transaction.store(value, for: key) }
      }
    } catch is Rehearsed {}
  }

  /// Returns the database, whose writers' lock this process has then.
  func lockedDatabase(_ deadline: Deadline) throws -> OpenDatabase {
    while true {
      let database = try writableDatabase()
      if try database.counter.lock(deadline) {
        do {
          if try isCurrent(database) { return database }
        } catch {
          database.counter.unlock()
          throw error
        }
      }
      // Somebody has removed or replaced a file. Who still has the old counter must ask.
      try? database.counter.setUncertain(after: 0)
      database.counter.unlock()
      leave()
      guard !deadline.hasPassed else {
        throw PreferencesError(.conflict, "the file is replaced again and again: \(file.path)")
      }
    }
  }

  private func writableDatabase() throws -> OpenDatabase {
    // An open one is looked at under the lock.
    if case .database(let database) = source {
      try database.counter.requireOpen()
      return database
    }
    try look(forWriting: true)
    if case .database(let database) = source { return database }
    throw PreferencesError(.conflict, "the file cannot be opened: \(file.path)")
  }

  func commit(_ transaction: WriteTransaction) throws {
    let database = transaction.database
    let generation = transaction.generation
    if generation % 1000 == 0, let floor = try transaction.forgetRemovals(keeping: 1000) {
      try database.connection.run("UPDATE state SET floor = ?", .integer(floor))
    }
    try database.connection.run("UPDATE state SET generation = ?", .integer(generation))
    cache.beginCommit()
    defer { cache.endCommit() }
    if !database.isOnNetwork { try database.counter.setUncertain(after: generation - 1) }
    do {
      try database.connection.run("COMMIT")
    } catch {
      try settle(transaction, after: .any(error))
    }
    if !database.isOnNetwork { recordCommit(of: generation, database) }
    totals =
      transaction.totals
      ?? totals?.adding(SharedTotals.Growth(transaction.changes), of: transaction)
    record(transaction)
    try? checkpointIfNeeded(database)
  }

  /// Records that a generation was committed.
  ///
  /// If this fails, readers ask the database, and correct the counter.
  private func recordCommit(of generation: Int64, _ database: OpenDatabase) {
    try? database.counter.set(generation)
    try? database.counter.record(.committed(generation, after: database.counter.record))
    noteUncopiedChanges(of: database)
  }

  /// Lets the log be copied in a moment.
  func noteUncopiedChanges(of database: OpenDatabase) {
    guard !database.hasUncopiedChanges, !database.isOnNetwork else { return }
    database.hasUncopiedChanges = LogCopier.shared.note(self)
  }

  /// Brings the cache to the transaction's generation, and posts its changes.
  private func record(_ transaction: WriteTransaction) {
    let known = transaction.hasUnlistedChanges && !transaction.isObserved ? cache.allKnown : [:]
    let changes = transaction.changes.map { change in
      CachedChange(key: change.key, stored: change.new)
    }
    cache.advance(
      to: transaction.generation, transaction.hasUnlistedChanges ? nil : changes, keepsNew: true)
    postSignal()
    // After the cache: an observer that begins now reads the new values.
    guard !observers.isEmpty else { return }
    var posted = known.compactMap { key, old in
      old.value.map { PreferenceChange(key.text, from: $0.object, to: nil) }
    }
    for (change, cached) in zip(transaction.changes, changes) {
      let (key, new) = (change.key.text, cached.value?.value?.object)
      let old = change.old.map(\.decoded)
      // A value that was damaged is not known.
      let isKnown = old.map { $0 != nil } ?? true
      posted.append(
        isKnown
          ? PreferenceChange(key, from: old??.object, to: new) : PreferenceChange(key, to: new))
    }
    post(posted)
  }
}

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

  /// Whether the changes may become one batch of a shared file.
  let keepsBatches: Bool

  /// The batches that were made for unsent values of keys that this transaction has changed, too.
  var batchesBefore: [KeyBytes: Int64] = [:]

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
    let old: PreferenceValue.Encoded?
    let new: PreferenceValue.Encoded?
  }

  init(_ database: OpenDatabase, generation: Int64, isObserved: Bool, keepsBatches: Bool = false) {
    self.database = database
    self.generation = generation
    self.isObserved = isObserved
    self.keepsBatches = keepsBatches
  }

  /// Performs changes of which, if the closure throws, none remains.
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
    // Removed in vain: it would be imported later.
    if new == nil { try requireKnown(key) }
    try failing {
      let old = try database.stored(key)
      guard old != new else { return }
      if keepsBatches { try keepUnsentValue(of: key) }
      try write(new, for: key)
      changes.append(Change(key: key, old: old, new: new))
    }
  }

  /// Sets the value of a key that has never had one.
  func insert(_ new: PreferenceValue.Encoded, for key: KeyBytes) throws {
    try failing {
      try database.connection.run(
        "INSERT OR IGNORE INTO preference(key, generation, kind, value) VALUES(?, ?, ?, ?)",
        .bytes(Array(key.text.utf8)), .integer(generation), .integer(Int64(new.kind.rawValue)),
        .bytes(new.bytes))
      hasUnlistedChanges = true
    }
  }

  /// Records that the property list was imported.
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

  /// Removes the rows whose key is not text in bytes, also from the log of a shared file.
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

  /// Forgets the oldest removals, so that they don't fill the file.
  ///
  /// Returns `nil` if none is.
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

  /// After a failure, SQLite may have undone a part.
  private func failing<Result>(_ body: () throws -> Result) throws -> Result {
    try checkFailure()
    do {
      return try body()
    } catch {
      let found = PreferencesError.any(error)
      // A value that is too long, or damaged, leaves the transaction as it is.
      if found.code != .unstorable, found.code != .damaged || !database.connection.isInTransaction {
        failure = found
      }
      throw error
    }
  }
}

/// The threads that wait for the transactions of other threads.
///
/// Two transactions that contain each other would wait until they time out. Only those of one
/// process are found.
///
/// It is used under a lock that the thread sanitizer knows.
final class TransactionWaits: Sendable {
  static let shared = TransactionWaits()

  private let waits = PosixMutex<[UInt: Engine]>([:])

  /// Calls a closure that waits for an engine, unless its transaction waits for one of the thread.
  ///
  /// Returns `nil` if it was not called.
  func perform(_ thread: UInt, for engine: Engine, _ wait: () -> Bool) -> Bool? {
    let isEndless = waits.withLock { waits in
      var next = Optional(engine)
      // At most once for each thread that waits.
      for _ in 0...waits.count {
        guard let owner = next?.transactionOwner, owner != 0 else { break }
        if owner == thread { return true }
        next = waits[owner]
      }
      waits[thread] = engine
      return false
    }
    guard !isEndless else { return nil }
    defer { waits.withLock { $0[thread] = nil } }
    return wait()
  }
}
