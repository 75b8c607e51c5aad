internal import FoundationEssentials
package import PreferencesCore

/// The state that keeps a file of preferences in step with a server.
///
/// It has the server's rows (the shadow), the unsent changes (the outbox), and the changes from
/// elsewhere (the change feed). It does not use the network.
///
/// Every process that has the file open can use it; those that send and receive hold the lock of
/// the sender. Every function is one transaction of the file, and throws ``PreferencesError``, with
/// ``PreferencesError/Code/notFound`` if the file is not shared, or if sharing has changed.
package final class SharedReplica: Sendable {
  package let preferences: DurablePreferences

  /// The period of sharing that is required, or `nil` for any.
  package let sharing: SharingEpoch?

  package init(_ preferences: DurablePreferences, during sharing: SharingEpoch? = nil) {
    self.preferences = preferences
    self.sharing = sharing
  }

  package func filePath() throws(PreferencesError) -> String { try preferences.suiteFile().path }

  // MARK: - Sharing

  /// Whether the file is shared; false if it does not exist.
  package func isShared() throws(PreferencesError) -> Bool {
    try preferences.typed { try engine().inspect { $1.sharing > 0 } ?? false }
  }

  /// Starts sharing the file, or changes the settings.
  ///
  /// All values go into the outbox, without a base.
  package func share(
    _ settings: SharingSettings, clearingDecisions: Bool = false
  ) throws(PreferencesError) {
    try preferences.typed {
      // This imports the values of `UserDefaults`.
      try engine().open()
      try engine().maintain(creating: true) { write in
        if try write.database.state().sharing > 0 {
          try Self.change(settings, clearingDecisions, write)
        } else {
          try Self.begin(settings, write)
        }
      }
    }
  }

  private static func begin(_ settings: SharingSettings, _ write: WriteTransaction) throws {
    let connection = write.database.connection
    try SharingSchema.create(connection)
    write.database.isShared = true
    let record = SyncRecord(settings: settings, writer: .random())
    try record.insert(connection)
    try connection.run("INSERT INTO writer VALUES(?, 0, 0, 1)", .bytes(record.writer.bytes))
    try write.enqueueAllValues()
    try write.renewRules()
  }

  private static func change(
    _ settings: SharingSettings, _ clearingDecisions: Bool, _ write: WriteTransaction
  ) throws {
    let transaction = try ReplicaTransaction(write)
    var settings = settings
    if transaction.sync.settings.programDecides, !clearingDecisions {
      settings.programDecides = true
    }
    guard settings != transaction.sync.settings else { return }
    transaction.sync.settings = settings
    if !settings.programDecides {
      for conflict in try transaction.conflicts() {
        try transaction.decideByOrder(conflict.batch.id)
      }
    }
    try transaction.close()
    try write.renewRules()
  }

  /// Stops sharing: the file keeps its values, and is local again.
  @discardableResult
  package func unshare(losesUnsent: Bool = true) throws(PreferencesError) -> Int {
    try preferences.typed {
      guard try isShared() else { return 0 }
      return try engine().maintain { write in
        guard try write.database.state().sharing > 0 else { return 0 }
        let connection = write.database.connection
        let unsent = Int(try connection.integer("SELECT count(DISTINCT key) FROM log") ?? 0)
        guard unsent == 0 || losesUnsent else { return unsent }
        try SharingSchema.remove(connection)
        try connection.run("UPDATE state SET sharing = 0")
        write.database.isShared = false
        write.wakesOthers = true
        return unsent
      }
    }
  }

  // MARK: - Identity

  /// Adopts the identity of the store that is on the server now, as at the first contact: it
  /// forgets the shadow, takes a new tag, and puts every value into the outbox, without a base.
  package func adopt(identity: [UInt8]) throws(PreferencesError) {
    try change { transaction in
      for table in ["log", "unit", "shadow", "writer"] {
        try transaction.connection.run("DELETE FROM \(table)")
      }
      try transaction.takeNewTag()
      transaction.sync.identity = identity
      transaction.sync.revision = 0
      transaction.sync.arrival = .accountChange
      try transaction.write.enqueueAllValues()
      transaction.write.wakesOthers = true
    }
  }

  /// Takes a new tag, because another file writes with this one.
  ///
  /// The outbox stays; a numbered batch loses its number.
  package func renewWriter() throws(PreferencesError) {
    try change { transaction in
      try transaction.recall()
      try transaction.takeNewTag()
    }
  }

  /// Makes all processes refuse changes from now on (79), or allow them again.
  package func setReadOnly(_ isReadOnly: Bool) throws(PreferencesError) {
    try change { transaction in
      guard transaction.sync.isReadOnly != isReadOnly else { return }
      transaction.sync.isReadOnly = isReadOnly
      try transaction.write.renewRules()
    }
  }

  /// Records the server's last answer for other processes and commands.
  package func record(_ report: SharingReport) throws(PreferencesError) {
    try change { transaction in
      var report = report
      if report.lastContact == nil {
        // Without a contact of its own, a process must not erase that of others.
        try transaction.connection.run("SELECT report FROM sync") { row in
          let old = try? JSONDecoder().decode(SharingReport.self, from: Data(row.bytes(0)))
          report.lastContact = old?.lastContact
        }
      }
      let data = try JSONEncoder().encode(report)
      try transaction.connection.run("UPDATE sync SET report = ?", .bytes(Array(data)))
    }
  }

  // MARK: - Transactions

  private func engine() throws -> Engine { try preferences.engine() }

  /// Changes a shared file in one transaction.
  func change<Result>(
    _ body: (ReplicaTransaction) throws -> Result
  ) throws(PreferencesError) -> Result {
    try preferences.typed {
      try engine().maintain { write in
        guard try write.database.state().sharing > 0 else { throw self.isNotShared() }
        let transaction = try ReplicaTransaction(write)
        try self.sharing?.check(transaction.sync, transaction.connection)
        let result = try body(transaction)
        try transaction.close()
        return result
      }
    }
  }

  /// Reads a shared file in one transaction.
  func inspect<Result>(_ body: (OpenDatabase) throws -> Result) throws(PreferencesError) -> Result {
    try preferences.typed {
      let result = try engine().inspect { database, state in
        guard state.sharing > 0 else { throw self.isNotShared() }
        if let sharing = self.sharing {
          try sharing.check(try SyncRecord.read(database.connection), database.connection)
        }
        return try body(database)
      }
      guard let result else { throw isNotShared() }
      return result
    }
  }

  private func isNotShared() -> PreferencesError {
    PreferencesError(.notFound, "the preferences are not shared: \(preferences.suiteName)")
  }
}

extension WriteTransaction {
  /// Logs all values as if they were set now; damaged ones stay on this machine.
  fileprivate func enqueueAllValues() throws {
    try database.connection.run(
      """
      INSERT INTO log SELECT 0, key, generation, kind, value, \(SharingSchema.now), generation, \
      x'' FROM preference WHERE kind BETWEEN \(PreferenceValue.Kind.bool.rawValue) \
      AND \(PreferenceValue.Kind.dictionary.rawValue)
      """)
  }

  /// Makes all processes read the rules of sharing again.
  fileprivate func renewRules() throws {
    // The sign of the number shows whether changes are logged.
    try endApplying()
    try database.connection.run("UPDATE state SET sharing = ?", .integer(generation))
    wakesOthers = true
  }
}

extension SharedReplica {
  /// Returns the entries after one of the change feed, or `nil` if some of them were removed.
  package func changeFeed(after entry: Int64) throws(PreferencesError) -> [ChangeFeedEntry]? {
    try inspect { database in
      let last = try database.connection.integer("SELECT max(number) FROM journal") ?? 0
      // A greater number is from a change feed that was removed when sharing ended.
      guard entry <= last else { return nil }
      let entries = try Self.entries(database, "number > ? ORDER BY number", entry)
      return entries.count == last - entry ? entries : nil
    }
  }

  /// Returns the changes of this machine that were given up, after an entry of the change feed;
  /// they are kept longer than other entries.
  package func losses(after entry: Int64) throws(PreferencesError) -> [ChangeFeedEntry] {
    try inspect { database in
      try Self.entries(database, "conflict = 1 AND number > ? ORDER BY number", entry)
    }.filter { $0.reason != .decision }
  }

  package func lastFeedEntry() throws(PreferencesError) -> Int64 {
    try inspect { try $0.connection.integer("SELECT max(number) FROM journal") ?? 0 }
  }

  /// Returns the last entries, the oldest first.
  package func recentFeed(_ limit: Int) throws(PreferencesError) -> [ChangeFeedEntry] {
    try inspect { database in
      try Self.entries(database, "1 ORDER BY number DESC LIMIT ?", Int64(limit)).reversed()
    }
  }

  /// Returns the last lost change of each key, the newest first.
  package func recentConflicts(_ limit: Int) throws(PreferencesError) -> [ChangeFeedEntry] {
    try inspect { database in
      try Self.entries(
        database,
        """
        number IN (SELECT max(number) FROM journal \
        WHERE conflict = 1 AND reason != \(ChangeFeedEntry.Reason.decision.rawValue) GROUP BY key) \
        ORDER BY number DESC LIMIT ?
        """, Int64(limit))
    }
  }

  private static func entries(
    _ database: OpenDatabase, _ condition: String, _ value: Int64
  ) throws -> [ChangeFeedEntry] {
    try database.connection.all(
      """
      SELECT number, date, reason, conflict, tag, key, old_kind, old, new_kind, new FROM journal \
      WHERE \(condition)
      """, .integer(value)
    ) { row in
      let key = try OpenDatabase.key(row, 5)
      let (old, new) = (OpenDatabase.value(row, 6), OpenDatabase.value(row, 8))
      let tag = row.bytes(4)
      return ChangeFeedEntry(
        number: row.integer(0) ?? 0, date: Date(milliseconds: row.integer(1) ?? 0),
        reason: ChangeFeedEntry.Reason(rawValue: Int(row.integer(2) ?? 0)) ?? .serverChange,
        key: key.text, old: old.flatMap(\.decoded),
        new: new.flatMap(\.decoded), isConflict: row.integer(3) == 1,
        writer: tag.isEmpty ? nil : WriterTag(tag))
    }
  }
}

extension SharedReplica {
  // MARK: - Receiving

  /// Compares everything on the server, at one revision, with the shadow.
  ///
  /// Nothing happens if the identity differs from the file's; the first one is taken. `known` is
  /// `nil` if nothing is sent meanwhile. Without `beginsLife`, a restored server is used without a
  /// new life, because the user may not write one.
  package func apply(
    _ snapshot: SharedSnapshot, since known: SharingState? = nil, beginsLife: Bool = false
  ) throws(PreferencesError) -> SnapshotOutcome {
    try change { try $0.apply(snapshot, since: known, beginsLife: beginsLife) }
  }

  /// Applies what a watch has reported: each element is one revision.
  package func apply(_ revisions: [SharedRevision]) throws(PreferencesError) -> SnapshotOutcome {
    try change { transaction in
      for revision in revisions where try !transaction.apply(revision) { return .cloned }
      return .applied
    }
  }

  // MARK: - Sending

  /// Returns the numbered batch whose outcome is unknown, or else numbers the next one.
  ///
  /// The file is synced then, so that the number is never used again. Returns `nil` if nothing can
  /// be sent now.
  package func nextBatch() throws(PreferencesError) -> SharedBatch? {
    let (batch, nonce, database) = try change { transaction in
      if try !transaction.isInFlight() { try transaction.numberNextBatch() }
      let batch = try transaction.numberedBatch()
      let database = transaction.write.database
      // Another process may have been killed before its number was on the disk.
      let isSynced = batch == nil || database.syncedBatch == transaction.sync.nonce
      return (batch, isSynced ? nil : transaction.sync.nonce, database)
    }
    guard let nonce else { return batch }
    // Outside of all locks: writers don't wait for the disk.
    let engine = try preferences.engine()
    try preferences.typed {
      try engine.syncLog(database)
      try engine.locked { database.syncedBatch = nonce }
    }
    return batch
  }

  /// Records that the server has performed the batch.
  ///
  /// `apply` does the same when it receives the batch's rows; then this does nothing.
  package func acknowledge(_ batch: SharedBatch, revision: Int64) throws(PreferencesError) {
    try finish(batch) { try $0.acknowledge(revision: revision) }
  }

  /// Records that the server has refused the batch's compares, so it is never performed.
  ///
  /// Its changes return to the outbox. Once the receiver has the rows, changes whose keys were
  /// changed elsewhere wait for a decision.
  package func reject(_ batch: SharedBatch) throws(PreferencesError) {
    try finish(batch) { try $0.recall() }
  }

  /// Sets aside a batch that the server refuses for another reason; other batches are sent.
  package func setAside(
    _ batch: SharedBatch, keys: [PreferenceKey]?, because reason: SetAsideReason, _ message: String
  ) throws(PreferencesError) {
    let named = keys.map { Set($0.map(KeyBytes.init)) }
    try finish(batch) { transaction in
      for batch in try transaction.batches(in: .inFlight) {
        let waits =
          try batch.isAtomic
          || named.map { named in
            try transaction.changes(of: batch.id).contains { named.contains($0.key) }
          } ?? true
        try transaction.set(
          waits ? .setAside(reason) : .waiting, of: batch.id, waits ? message : "")
      }
    }
  }

  /// Changes the batch that was numbered last, if it is this one.
  private func finish(_ batch: SharedBatch, _ body: (ReplicaTransaction) throws -> Void)
    throws(PreferencesError)
  {
    try change { transaction in
      let sync = transaction.sync
      guard sync.writer == batch.writer, sync.newWriterRow == batch.newWriterRow,
        try transaction.isInFlight()
      else { return }
      try body(transaction)
    }
  }

  /// Makes batches that were set aside sendable again, for one reason or all.
  package func retrySetAside(_ reason: SetAsideReason?) throws(PreferencesError) {
    try change { transaction in
      let (least, greatest) =
        reason.map { reason in
          (BatchState.setAside(reason).number, BatchState.setAside(reason).number)
        } ?? (10, .max)
      let count =
        try transaction.connection.integer(
          "SELECT count(*) FROM unit WHERE state >= 10") ?? 0
      guard count > 0 else { return }
      try transaction.connection.run(
        "UPDATE unit SET state = 0, message = x'' WHERE state BETWEEN ? AND ?", .integer(least),
        .integer(greatest))
      transaction.write.wakesOthers = true
    }
  }
}
