package import FoundationEssentials
package import PreferencesCore

extension SharedReplica {
  /// The batches that wait for a decision, the oldest first.
  ///
  /// Batches that are based on a listed one are part of it.
  package func conflicts() throws(PreferencesError) -> [ReplicaConflict] {
    try change { transaction in
      guard try !transaction.batches(in: .conflict).isEmpty else { return [] }
      return try transaction.conflicts().map { try ReplicaConflict($0) }
    }
  }

  /// Decides a conflict.
  package func resolve(
    _ conflict: ReplicaConflict, _ decision: ReplicaDecision
  ) throws(PreferencesError) -> Bool {
    var decided: [KeyBytes: PreferenceValue.Encoded?] = [:]
    if case .set(let values) = decision {
      for (key, value) in values {
        try value?.checkDepth(forKey: key)
        decided[KeyBytes(key)] = .some(value?.encoded)
      }
    }
    return try change { transaction in
      guard let found = try transaction.find(conflict) else { return false }
      switch decision {
      case .takeShared: try transaction.takeShared(found)
      case .keepLocal: try transaction.keepLocal(found)
      case .set: try transaction.decide(found, decided)
      }
      transaction.write.wakesOthers = true
      return true
    }
  }

  /// Records why a conflict was not decided.
  package func postpone(_ conflict: ReplicaConflict, _ message: String) throws(PreferencesError) {
    try change { transaction in
      guard let found = try transaction.find(conflict) else { return }
      try transaction.set(.conflict, of: found.batch.id, message)
    }
  }
}

extension ReplicaTransaction {
  /// Returns the present state of a conflict, if nothing has changed since it was listed.
  fileprivate func find(_ conflict: ReplicaConflict) throws -> Conflict? {
    // Programs decide the oldest conflict first, so usually there is only one to check.
    try conflicts(upTo: conflict.batch).first { $0.token == conflict.token }
  }
}

extension ReplicaTransaction.Conflict {
  fileprivate var token: [UInt8] {
    var token = BigEndian.bytes(batch.id)
    func append(_ bytes: [UInt8]) { token += BigEndian.bytes(Int64(bytes.count)) + bytes }
    for change in dependents.changes.sorted(by: Self.isBefore) {
      token += BigEndian.bytes(change.batch) + [change.value?.kind.rawValue ?? 0]
      append(change.key.bytes)
      append(change.value?.bytes ?? [])
      append(shared[change.key]?.bytes ?? [])
    }
    return token
  }

  private static func isBefore(_ one: OutboxChange, _ other: OutboxChange) -> Bool {
    one.batch == other.batch
      ? one.key.bytes.lexicographicallyPrecedes(other.key.bytes) : one.batch < other.batch
  }
}

extension ReplicaConflict {
  fileprivate init(_ conflict: ReplicaTransaction.Conflict) throws {
    let values = try conflict.dependents.keys.map { key in
      let shared = ReplicaTransaction.readable(conflict.shared[key])?.value
      return Value(
        key: key.text,
        local: try conflict.local[key].map { value in
          try value.decoded(forKey: key)
        },
        shared: shared.flatMap { $0 }.flatMap(\.decoded))
    }
    self.init(
      values: values, isTransaction: conflict.dependents.isTransaction,
      message: conflict.message.isEmpty ? nil : conflict.message, batch: conflict.batch.id,
      token: conflict.token)
  }
}

extension SharedReplica {
  package func state() throws(PreferencesError) -> SharingState {
    try inspect { database in
      let connection = database.connection
      let sync = try SyncRecord.read(connection)
      var state = SharingState(
        settings: sync.settings, identity: sync.identity, writer: sync.writer,
        writerRow: sync.writerRow, revision: sync.revision, isReadOnly: sync.isReadOnly,
        unsentKeys: 0, unsentBytes: 0, oldestUnsent: nil, report: nil, setAside: [],
        newerKeys: [], damagedKeys: [])
      try connection.run(
        "SELECT count(DISTINCT key), sum(length(key) + length(value)), min(since) FROM log"
      ) { row in
        state.unsentKeys = Int(row.integer(0) ?? 0)
        state.unsentBytes = Int(row.integer(1) ?? 0)
        state.oldestUnsent = row.integer(2).map(Date.init(milliseconds:))
      }
      try connection.run("SELECT report FROM sync") { row in
        state.report = try? JSONDecoder().decode(SharingReport.self, from: Data(row.bytes(0)))
      }
      try connection.run("SELECT key, kind FROM shadow WHERE kind < 0") { row in
        let key = try OpenDatabase.key(row).text
        if row.integer(1) == -1 {
          state.newerKeys.append(key)
        } else {
          state.damagedKeys.append(key)
        }
      }
      state.setAside = try Self.setAside(connection)
      return state
    }
  }

  /// The server's last rows, including removals, by the bytes of their keys.
  package func shadow() throws(PreferencesError) -> [[UInt8]: SharedRow] {
    let rows = try inspect { try ReplicaTransaction.shadows($0.connection) }
    return Dictionary(rows.map { ($0.key.bytes, $0.value) }) { $1 }
  }

  private static func setAside(
    _ connection: SQLiteConnection
  ) throws -> [(keys: [PreferenceKey], reason: SetAsideReason, message: String)] {
    var found: [(keys: [PreferenceKey], reason: SetAsideReason, message: String)] = []
    var last: Int64?
    try connection.run(
      """
      SELECT log.key, unit.id, unit.state, unit.message FROM unit JOIN log ON log.unit = unit.id \
      WHERE unit.state >= 10 ORDER BY unit.id
      """
    ) { row in
      let key = try OpenDatabase.key(row).text
      let id = row.integer(1)
      if id == last { return found[found.count - 1].keys.append(key) }
      last = id
      guard case .setAside(let reason) = row.integer(2).flatMap(BatchState.init) else { return }
      found.append(([key], reason, String(decoding: row.bytes(3), as: UTF8.self)))
    }
    return found
  }

  /// The keys with unsent changes, the oldest first.
  package func unsent() throws(PreferencesError) -> [UnsentChange] {
    try inspect { database in
      var changes: [KeyBytes: UnsentChange] = [:]
      // Ordered by batch for each key; an unbatched change is the last.
      try database.connection.run(
        """
        SELECT log.key, log.kind, log.since, coalesce(unit.state, 0) FROM log \
        LEFT JOIN unit ON unit.id = log.unit ORDER BY log.unit = 0, log.unit
        """
      ) { row in
        let key = try OpenDatabase.key(row)
        let date = Date(milliseconds: row.integer(2) ?? 0)
        let waits = (row.integer(3) ?? 0) >= BatchState.conflict.number
        let earlier = changes[key]
        changes[key] = UnsentChange(
          key: key.text, isRemoval: row.integer(1) == 0, date: min(earlier?.date ?? date, date),
          waits: earlier?.waits ?? false || waits)
      }
      return changes.values.sorted { $0.date < $1.date }
    }
  }

  /// The present end of the outbox, for ``unsent(upTo:)``.
  package func outboxMark() throws(PreferencesError) -> Int64 {
    try inspect { try $0.connection.integer("SELECT max(generation) FROM log") ?? 0 }
  }

  /// Returns the changes up to a mark that are still in the outbox.
  package func unsent(upTo mark: Int64) throws(PreferencesError) -> UnsentChanges {
    try inspect { try UnsentChanges($0.connection, upTo: mark) }
  }

  /// Also returns the conflicts at the same time: between two reads, a decision would look like a
  /// refusal.
  package func unsentWithConflicts(
    upTo mark: Int64
  ) throws(PreferencesError) -> (UnsentChanges, [ReplicaConflict]) {
    try change { transaction in
      let conflicts = try transaction.conflicts().map { try ReplicaConflict($0) }
      return (try UnsentChanges(transaction.connection, upTo: mark), conflicts)
    }
  }

  /// Returns what to remove from the server if it has more than `limit` removals: the oldest rows,
  /// and the new floor; returns `nil` if there is nothing to do.
  ///
  /// The rows are as many as one transaction of the server can compare; call it again after that.
  package func removalsToCollect(
    above limit: Int
  ) throws(PreferencesError) -> (rows: [SharedRow], floor: Int64)? {
    try inspect { database in
      let count = Int(
        try database.connection.integer("SELECT count(*) FROM shadow WHERE kind = 0") ?? 0)
      guard count > limit else { return nil }
      let rows = try database.connection.all(
        "SELECT key, revision, row FROM shadow WHERE kind = 0 ORDER BY revision LIMIT ?",
        .integer(Int64(min(count - limit, BatchLimit.keys)))
      ) { row in
        SharedRow(
          key: try OpenDatabase.key(row).text, revision: row.integer(1) ?? 0, bytes: row.bytes(2))
      }
      return rows.last.map { (rows, $0.revision) }
    }
  }
}

/// The server's last answer.
package struct SharingReport: Hashable, Sendable, Codable {
  package var date: Date
  /// When the file was last in step.
  package var lastContact: Date?
  /// A word for programs, such as `unreachable`; `nil` if all is well.
  package var code: String?
  package var message: String?
  package var process: Int32
  package init(date: Date, lastContact: Date?, code: String?, message: String?, process: Int32) {
    self.date = date
    self.lastContact = lastContact
    self.code = code
    self.message = message
    self.process = process
  }
}
