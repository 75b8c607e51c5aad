internal import Prephirences

extension ReplicaTransaction {
  /// How many entries the journal has at most.
  private static let greatestCount: Int64 = 10_000

  /// How large its values are together, but for the last ones.
  private static let greatestSize: Int64 = 16 << 20

  func addToJournal(
    _ key: KeyBytes, from old: StoredValue?, to new: StoredValue?, conflict: Bool,
    _ writer: WriterTag?, reason: JournalEntry.Reason? = nil
  ) throws(PreferencesError) {
    let size = key.bytes.count + (old?.bytes.count ?? 0) + (new?.bytes.count ?? 0)
    var (number, position): (Int64, Int64) = (0, 0)
    try connection.run("SELECT number, position FROM journal ORDER BY number DESC LIMIT 1") {
      row in (number, position) = (row.integer(0) ?? 0, row.integer(1) ?? 0)
    }
    number += 1
    position += Int64(size)
    try connection.run(
      "INSERT INTO journal VALUES(?, ?, \(SharingSchema.now), ?, ?, ?, ?, ?, ?, ?, ?)",
      .integer(number), .integer(position), .integer(Int64((reason ?? sync.arrival).rawValue)),
      .integer(conflict ? 1 : 0), .bytes(writer?.bytes ?? []), .bytes(key.bytes),
      .integer(Int64((old?.kind ?? .removed).rawValue)), .bytes(old?.bytes ?? []),
      .integer(Int64((new?.kind ?? .removed).rawValue)), .bytes(new?.bytes ?? []))
    try connection.run(
      """
      DELETE FROM journal WHERE number <= ? OR number < \
      (SELECT number FROM journal WHERE position > ? ORDER BY number LIMIT 1)
      """, .integer(number - Self.greatestCount), .integer(position - Self.greatestSize))
  }
}
