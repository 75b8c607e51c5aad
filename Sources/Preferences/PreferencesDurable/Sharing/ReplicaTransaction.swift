internal import Prephirences

/// A transaction on a shared file: the shadow, the log and what is known of the engine.
///
/// The base of the first unsent change of a key is what the shadow has of that: if the shadow
/// changes, the change goes on, is dropped, or waits for a decision.
final class ReplicaTransaction {
  let write: WriteTransaction
  private let before: SyncRecord
  var sync: SyncRecord
  /// Values that the engine has lost, to be sent before what is unsent.
  var lostValues: [(key: KeyBytes, value: StoredValue?)] = []
  /// The last entry of the journal, once this transaction has added one.
  var journalEnd: JournalEnd?

  init(_ write: WriteTransaction) throws(PreferencesError) {
    self.write = write
    before = try SyncRecord.read(write.database.connection)
    sync = before
  }

  var connection: SQLiteConnection { write.database.connection }

  /// Writes what is kept in memory.
  func close() throws(PreferencesError) {
    try shortenJournal()
    if sync != before { try sync.save(connection) }
  }

  // MARK: - Shadow

  /// Returns what the engine had of a key last; `nil` if nothing.
  func shadow(_ key: KeyBytes) throws(PreferencesError) -> SharedRow? {
    var found: SharedRow?
    try connection.run("SELECT revision, row FROM shadow WHERE key = ?", .bytes(key.bytes)) { row in
      found = SharedRow(key: key.text, revision: row.integer(0) ?? 0, bytes: row.bytes(1))
    }
    return found
  }

  func allShadows() throws(PreferencesError) -> [KeyBytes: SharedRow] {
    try Self.shadows(connection)
  }

  static func shadows(
    _ connection: SQLiteConnection
  ) throws(PreferencesError) -> [KeyBytes: SharedRow] {
    var all: [KeyBytes: SharedRow] = [:]
    try connection.run("SELECT key, revision, row FROM shadow") { row throws(PreferencesError) in
      let key = try OpenDatabase.key(row)
      all[key] = SharedRow(key: key.text, revision: row.integer(1) ?? 0, bytes: row.bytes(2))
    }
    return all
  }

  /// Records what the engine has of a key; `nil` is nothing.
  func setShadow(_ row: SharedRow?, of key: KeyBytes) throws(PreferencesError) {
    try retryUnreadable(key)
    guard let row else {
      return try connection.run("DELETE FROM shadow WHERE key = ?", .bytes(key.bytes))
    }
    let kind: Int64 =
      switch row.form {
      case .value(let stored): Int64((stored?.kind ?? .removed).rawValue)
      case .newer: -1
      case .damaged: -2
      }
    try connection.run(
      "INSERT OR REPLACE INTO shadow VALUES(?, ?, ?, ?)", .bytes(key.bytes),
      .integer(row.revision), .integer(kind), .bytes(row.bytes))
  }

  /// Lets units be sent again that were set aside because of what the engine had of a key.
  private func retryUnreadable(_ key: KeyBytes) throws(PreferencesError) {
    var units: [Int64] = []
    try connection.run(
      """
      SELECT id FROM unit WHERE state IN (?, ?) AND EXISTS \
      (SELECT 1 FROM log WHERE log.unit = unit.id AND log.key = ?)
      """, .integer(UnitState.setAside(.newerForm).number),
      .integer(UnitState.setAside(.damaged).number), .bytes(key.bytes)
    ) { row in if let unit = row.integer(0) { units.append(unit) } }
    for unit in units { try set(.waiting, of: unit) }
    if !units.isEmpty { write.wakesOthers = true }
  }

  // MARK: - Writers

  struct Writer {
    /// The highest number that was seen.
    var number: Int64
    /// Whether this file is the writer, or was.
    var isOwn: Bool
  }

  func writers() throws(PreferencesError) -> [WriterTag: Writer] {
    var writers: [WriterTag: Writer] = [:]
    try connection.run("SELECT tag, number, own FROM writer") { row in
      writers[WriterTag(row.bytes(0))] = Writer(
        number: row.integer(1) ?? 0, isOwn: row.integer(2) == 1)
    }
    return writers
  }

  /// Whether this file writes with a tag, or did.
  func isOwn(_ tag: WriterTag) throws(PreferencesError) -> Bool {
    var isOwn = false
    try connection.run("SELECT 1 FROM writer WHERE tag = ? AND own = 1", .bytes(tag.bytes)) { _ in
      isOwn = true
    }
    return isOwn
  }

  /// Records that a writer has sent a unit.
  func note(_ number: Int64, of tag: WriterTag) throws(PreferencesError) {
    try connection.run(
      """
      INSERT INTO writer VALUES(?, ?, 0) ON CONFLICT(tag) DO UPDATE SET number = excluded.number \
      WHERE excluded.number > number
      """, .bytes(tag.bytes), .integer(number))
  }

  /// Becomes another writer, which has sent nothing yet.
  func takeNewTag() throws(PreferencesError) {
    sync.takeNewTag()
    try connection.run("INSERT INTO writer VALUES(?, 0, 1)", .bytes(sync.writer.bytes))
  }

  // MARK: - Values

  /// Changes a value as the engine or a decision has it, and tells observers of all processes.
  func apply(
    _ new: StoredValue?, for key: KeyBytes, conflict: Bool, from writer: WriterTag?
  ) throws(PreferencesError) {
    let old = try presentValue(of: key)
    guard try write.apply(new, for: key) else { return }
    try addToJournal(key, from: old, to: new, conflict: conflict, writer)
  }

  /// Returns the value that the file has; `nil` also if it is damaged, as it may be replaced.
  func presentValue(of key: KeyBytes) throws(PreferencesError) -> StoredValue? {
    do throws(PreferencesError) {
      return try write.database.stored(key)
    } catch {
      guard error.code == .damaged else { throw error }
      return nil
    }
  }
}
