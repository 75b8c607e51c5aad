internal import PreferencesCore

/// A transaction on a shared file: the shadow, the outbox and the state of sharing.
///
/// The first unsent change of a key is based on the key's row of the shadow. If that row changes,
/// the change is kept, dropped, or becomes a conflict.
final class ReplicaTransaction {
  let write: WriteTransaction
  private let before: SyncRecord
  var sync: SyncRecord
  /// Rows that the server has lost, until they are logged.
  var lostRows: [KeyBytes: SharedRow] = [:]
  /// The last entry of the change feed, once this transaction has added one.
  var feedEnd: ChangeFeedEnd?

  init(_ write: WriteTransaction) throws {
    self.write = write
    before = try SyncRecord.read(write.database.connection)
    sync = before
  }

  var connection: SQLiteConnection { write.database.connection }

  func close() throws {
    try trimFeed()
    if sync != before { try sync.save(connection) }
  }

  // MARK: - Shadow

  /// Returns the server's last row of a key, or `nil`.
  func shadow(_ key: KeyBytes) throws -> SharedRow? {
    try connection.first("SELECT revision, row FROM shadow WHERE key = ?", .bytes(key.bytes)) {
      row in
      SharedRow(key: key.text, revision: row.integer(0) ?? 0, bytes: row.bytes(1))
    }
  }

  static func shadows(_ connection: SQLiteConnection) throws -> [KeyBytes: SharedRow] {
    var all: [KeyBytes: SharedRow] = [:]
    try connection.run("SELECT key, revision, row FROM shadow") { row in
      let key = try OpenDatabase.key(row)
      all[key] = SharedRow(key: key.text, revision: row.integer(1) ?? 0, bytes: row.bytes(2))
    }
    return all
  }

  /// Records the server's row of a key; `nil` means none.
  func setShadow(_ row: SharedRow?, of key: KeyBytes) throws {
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

  /// Makes batches that were set aside because of the server's row of a key sendable again.
  private func retryUnreadable(_ key: KeyBytes) throws {
    let batches = try connection.all(
      """
      SELECT id FROM unit WHERE state IN (?, ?) AND EXISTS \
      (SELECT 1 FROM log WHERE log.unit = unit.id AND log.key = ?)
      """, .integer(BatchState.setAside(.newerForm).number),
      .integer(BatchState.setAside(.damaged).number), .bytes(key.bytes)
    ) { $0.integer(0) }
    for batch in batches { try set(.waiting, of: batch) }
    if !batches.isEmpty { write.wakesOthers = true }
  }

  // MARK: - Writers

  struct Writer {
    /// The highest known number.
    var number: Int64
    /// The highest known number in this life of the server.
    var current: Int64
    /// Whether this file is or was the writer.
    var isOwn: Bool
  }

  func writers() throws -> [WriterTag: Writer] {
    var writers: [WriterTag: Writer] = [:]
    try connection.run("SELECT tag, number, current, own FROM writer") { row in
      writers[WriterTag(row.bytes(0))] = Writer(
        number: row.integer(1) ?? 0, current: row.integer(2) ?? 0, isOwn: row.integer(3) == 1)
    }
    return writers
  }

  /// Whether this file writes with a tag, or did.
  func isOwn(_ tag: WriterTag) throws -> Bool {
    try connection.exists("SELECT 1 FROM writer WHERE tag = ? AND own = 1", .bytes(tag.bytes))
  }

  func note(_ number: Int64, of tag: WriterTag) throws {
    try connection.run(
      """
      INSERT INTO writer VALUES(?, ?2, ?2, 0) ON CONFLICT(tag) DO UPDATE \
      SET number = max(number, excluded.number), current = max(current, excluded.current)
      """, .bytes(tag.bytes), .integer(number))
  }

  /// Becomes a new writer, which has sent nothing.
  func takeNewTag() throws {
    sync.takeNewTag()
    try connection.run("INSERT INTO writer VALUES(?, 0, 0, 1)", .bytes(sync.writer.bytes))
  }

  // MARK: - Values

  /// Sets a value from the server or a decision, and notifies observers in all processes.
  func apply(
    _ new: PreferenceValue.Encoded?, for key: KeyBytes, conflict: Bool, from writer: WriterTag?
  ) throws {
    let old = try presentValue(of: key)
    guard try write.apply(new, for: key) else { return }
    try addToFeed(key, from: old, to: new, conflict: conflict, writer)
  }

  /// Returns the file's value; `nil` also if it is damaged, because then it may be replaced.
  func presentValue(of key: KeyBytes) throws -> PreferenceValue.Encoded? {
    do {
      return try write.database.stored(key)
    } catch let error as PreferencesError where error.code == .damaged {
      return nil
    }
  }
}

extension ReplicaTransaction {
  /// Applies the changes of one revision that a watch has reported.
  func apply(_ revision: SharedRevision) throws -> Bool {
    guard revision.revision > sync.revision else { return true }
    var rows: [SharedRow] = []
    var writers: [WriterTag: [UInt8]] = [:]
    for change in revision.changes {
      switch change {
      case .writer(let tag, let row) where tag == sync.writer:
        guard try merge(row, revision.revision) else { return false }
      case .writer(let tag, let row?):
        if let number = WriterRow.number(row) { try note(number, of: tag) }
        if try isOwn(tag) { writers[tag] = row }
      case .row(let row): rows.append(row)
      case .writer, .removed, .floor: break
      }
    }
    if !writers.isEmpty { try acknowledgeLateBatches(rows, writers) }
    var changes: [RemoteChange] = []
    for row in rows where try isNew(row) {
      changes.append(try receive(row, of: KeyBytes(row.key)))
      if let origin = row.origin, !row.isSentAgain { try note(origin.number, of: origin.writer) }
    }
    for case .removed(let text) in revision.changes {
      let key = KeyBytes(text)
      guard let known = try shadow(key), known.revision < revision.revision else { continue }
      changes.append(try noteLoss(known, key))
    }
    try merge(changes)
    sync.revision = revision.revision
    return true
  }

  /// Records that the row of this writer was written in a revision.
  private func merge(_ row: [UInt8]?, _ revision: Int64) throws -> Bool {
    // The sender may have received later acknowledgements.
    guard revision > sync.writtenRevision, row != sync.writerRow else { return true }
    if row == sync.newWriterRow, try isInFlight() {
      try acknowledge(revision: revision)
      return true
    }
    guard row == nil else { return false }
    try forgetWriterRow(nil, revision)
    return true
  }

  /// Records that the server has an older row of this writer, or none: the numbered batch cannot be
  /// performed.
  func forgetWriterRow(_ row: [UInt8]?, _ revision: Int64) throws {
    sync.writerRow = row
    sync.writtenRevision = revision
    try recall()
  }

  /// Whether a row differs from the shadow's.
  private func isNew(_ row: SharedRow) throws -> Bool {
    let key = KeyBytes(row.key)
    guard let known = try shadow(key) else { return true }
    guard known.revision < row.revision else { return false }
    if known.bytes == row.bytes { try setShadow(row, of: key) }
    return known.bytes != row.bytes
  }

  /// The value in a row, `nil` for no row; the result is `nil` if this release cannot read the row.
  static func readable(_ row: SharedRow?) -> (value: PreferenceValue.Encoded?, Void)? {
    guard let row else { return (nil, ()) }
    guard case .value(let stored) = row.form else { return nil }
    if let stored, stored.decoded == nil { return nil }
    return (stored, ())
  }
}
