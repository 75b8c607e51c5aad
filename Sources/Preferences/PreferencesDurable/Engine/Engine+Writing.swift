internal import PreferencesCore
internal import PrephirencesSystem

extension Engine {
  /// Opens the database, or creates it.
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

  /// Performs changes in one transaction: all or none.
  ///
  /// Within a transaction of the same thread, they become a part of it.
  ///
  /// If only a part of them fails, the part is undone; `isOne` is `false` for a single change,
  /// which does not need this. With `isBatch`, the changes of a shared file are sent as one. With
  /// `repeats`, the closure is called again if the disk was full and emptying the log has freed
  /// space.
  func write<Result>(
    asOne isOne: Bool = true, isBatch: Bool = false, repeats: Bool = false,
    _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    if let transaction = ownTransaction {
      try transaction.checkFailure()
      return isOne ? try transaction.part { try body(transaction) } : try body(transaction)
    }
    do {
      return try writeOnce(isBatch: isBatch, body)
    } catch let error as PreferencesError
      where repeats && error.isOfFullDisk && error.code != .outcomeUnknown
    {
      return try writeOnce(isBatch: isBatch, body)
    }
  }

  /// If `isRehearsal`, ``Rehearsed`` is thrown where the changes would be committed.
  private func writeOnce<Result>(
    isBatch: Bool, isRehearsal: Bool = false, _ body: (WriteTransaction) throws -> Result
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
        // The next change imports the values.
        if importFailure == nil { hasTriedToImport = false }
        throw error
      }
    }
  }

  /// Calls a closure, which ends the transaction, with the writers' lock; if it throws, the
  /// transaction is rolled back.
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

  /// The changes would have been committed.
  private struct Rehearsed: Error {}

  /// Fails as changes would, without making them, and without creating a file.
  func rehearse(_ changes: [(key: KeyBytes, value: PreferenceValue.Encoded?)], isBatch: Bool) throws
  {
    func store(in transaction: WriteTransaction) throws {
      for (key, value) in changes { try transaction.store(value, for: key) }
    }
    if let transaction = ownTransaction {
      try transaction.checkFailure()
      do {
        try transaction.part {
          try store(in: transaction)
          throw Rehearsed()
        }
      } catch is Rehearsed { return }
    }
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
      try writeOnce(isBatch: isBatch, isRehearsal: true, store)
    } catch is Rehearsed {}
  }

  /// Returns the database after taking its writers' lock.
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
      // Somebody has removed or replaced a file. Processes with the old counter must ask the
      // database.
      try? database.counter.setUncertain(after: 0)
      database.counter.unlock()
      leave()
      guard !deadline.hasPassed else {
        throw PreferencesError(.conflict, "the file is replaced again and again: \(file.path)")
      }
    }
  }

  private func writableDatabase() throws -> OpenDatabase {
    // An open one is checked under the lock.
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

  /// Has the log copied shortly.
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
    // After the cache: an observer that starts now reads the new values.
    guard !observers.isEmpty else { return }
    var posted = known.compactMap { key, old in
      old.value.map { PreferenceChange(key.text, from: $0.object, to: nil) }
    }
    for (change, cached) in zip(transaction.changes, changes) {
      let (key, new) = (change.key.text, cached.value?.value?.object)
      let old = change.old.map(\.decoded)
      // A damaged value is unknown.
      let isKnown = old.map { $0 != nil } ?? true
      posted.append(
        isKnown
          ? PreferenceChange(key, from: old??.object, to: new) : PreferenceChange(key, to: new))
    }
    post(posted)
  }
}
