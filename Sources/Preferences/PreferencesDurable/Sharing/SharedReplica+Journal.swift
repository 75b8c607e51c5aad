internal import Foundation
package import Prephirences

extension SharedReplica {
  /// What came from elsewhere after an entry of the journal; `nil` if older entries are forgotten.
  package func journal(after entry: Int64) throws(PreferencesError) -> [JournalEntry]? {
    try inspect { database in
      let last = try database.connection.integer("SELECT max(number) FROM journal") ?? 0
      // A greater number is one of a journal that was removed when sharing ended.
      guard entry <= last else { return nil }
      let entries = try Self.entries(database, "number > ? ORDER BY number", entry)
      return entries.count == last - entry ? entries : nil
    }
  }

  /// The changes of this machine that were given up after an entry of the journal, also if other
  /// entries are forgotten.
  package func losses(after entry: Int64) throws(PreferencesError) -> [JournalEntry] {
    try inspect { database in
      try Self.entries(database, "conflict = 1 AND number > ? ORDER BY number", entry)
    }.filter { $0.reason != .decision }
  }

  /// The number of the last entry.
  package func lastJournalEntry() throws(PreferencesError) -> Int64 {
    try inspect { try $0.connection.integer("SELECT max(number) FROM journal") ?? 0 }
  }

  /// The last entries, the oldest first.
  package func recentJournal(_ limit: Int) throws(PreferencesError) -> [JournalEntry] {
    try inspect { database in
      try Self.entries(database, "1 ORDER BY number DESC LIMIT ?", Int64(limit)).reversed()
    }
  }

  /// The last change of each key that was given up for one of others, the newest first.
  package func recentConflicts(_ limit: Int) throws(PreferencesError) -> [JournalEntry] {
    try inspect { database in
      try Self.entries(
        database,
        """
        number IN (SELECT max(number) FROM journal \
        WHERE conflict = 1 AND reason != \(JournalEntry.Reason.decision.rawValue) GROUP BY key) \
        ORDER BY number DESC LIMIT ?
        """, Int64(limit))
    }
  }

  private static func entries(
    _ database: OpenDatabase, _ condition: String, _ value: Int64
  ) throws(PreferencesError) -> [JournalEntry] {
    var entries: [JournalEntry] = []
    try database.connection.run(
      """
      SELECT number, date, reason, conflict, tag, key, old_kind, old, new_kind, new FROM journal \
      WHERE \(condition)
      """, .integer(value)
    ) { row throws(PreferencesError) in
      let key = try OpenDatabase.key(row, 5)
      let (old, new) = (OpenDatabase.value(row, 6), OpenDatabase.value(row, 8))
      let tag = row.bytes(4)
      entries.append(
        JournalEntry(
          number: row.integer(0) ?? 0, date: Date(milliseconds: row.integer(1) ?? 0),
          reason: JournalEntry.Reason(rawValue: Int(row.integer(2) ?? 0)) ?? .serverChange,
          key: key.text, old: old.flatMap(ValueDecoder.decode),
          new: new.flatMap(ValueDecoder.decode), isConflict: row.integer(3) == 1,
          writer: tag.isEmpty ? nil : WriterTag(tag)))
    }
    return entries
  }
}
