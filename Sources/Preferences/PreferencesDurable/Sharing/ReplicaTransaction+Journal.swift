internal import Prephirences

extension ReplicaTransaction {
  /// How many entries the journal has at most, and how large their values are together.
  private static let greatestCount: Int64 = 10_000
  private static let greatestSize: Int64 = 16 << 20

  /// The same for changes that were given up, counted among all entries.
  ///
  /// Nothing else tells of them, so they stay longer.
  private static let greatestLossCount: Int64 = 200_000
  private static let greatestLossSize: Int64 = 64 << 20

  func addToJournal(
    _ key: KeyBytes, from old: StoredValue?, to new: StoredValue?, conflict: Bool,
    _ writer: WriterTag?, reason: JournalEntry.Reason? = nil
  ) throws(PreferencesError) {
    let size = key.bytes.count + (old?.bytes.count ?? 0) + (new?.bytes.count ?? 0)
    var last = if let journalEnd { journalEnd } else { try JournalEnd(connection) }
    last.number += 1
    last.position += Int64(size)
    journalEnd = last
    try connection.run(
      "INSERT INTO journal VALUES(?, ?, \(SharingSchema.now), ?, ?, ?, ?, ?, ?, ?, ?)",
      .integer(last.number), .integer(last.position),
      .integer(Int64((reason ?? sync.arrival).rawValue)), .integer(conflict ? 1 : 0),
      .bytes(writer?.bytes ?? []), .bytes(key.bytes),
      .integer(Int64((old?.kind ?? .removed).rawValue)), .bytes(old?.bytes ?? []),
      .integer(Int64((new?.kind ?? .removed).rawValue)), .bytes(new?.bytes ?? []))
  }

  /// Forgets the oldest entries, if some were added.
  func shortenJournal() throws(PreferencesError) {
    guard let journalEnd else { return }
    for (kind, count, size) in [
      (0, Self.greatestCount, Self.greatestSize),
      (1, Self.greatestLossCount, Self.greatestLossSize),
    ] {
      var first = journalEnd.number
      try connection.run(
        "SELECT number FROM journal WHERE number > ? AND position > ? ORDER BY number LIMIT 1",
        .integer(first - count), .integer(journalEnd.position - size)
      ) { row in first = row.integer(0) ?? first }
      try connection.run(
        "DELETE FROM journal WHERE conflict = \(kind) AND number < ?", .integer(first))
    }
  }
}

/// The last entry of the journal.
struct JournalEnd {
  var number: Int64 = 0
  /// The size of the keys and values up to it.
  var position: Int64 = 0

  init(_ connection: SQLiteConnection) throws(PreferencesError) {
    try connection.run("SELECT number, position FROM journal ORDER BY number DESC LIMIT 1") {
      row in (number, position) = (row.integer(0) ?? 0, row.integer(1) ?? 0)
    }
  }
}
