internal import PreferencesCore

/// A transaction on a shared file: the shadow, the outbox and what is known of the server.
///
/// The first unsent change of a key is based on the key's row of the shadow. If the row changes, that
/// change continues, is dropped, or becomes a conflict.
final class ReplicaTransaction {
  let write: WriteTransaction
  private let before: SyncRecord
  var sync: SyncRecord
  /// Values that the server has lost, to be sent before what is unsent.
  var undoneValues: [(key: KeyBytes, value: StoredValue?)] = []
  /// The last entry of the change feed, once this transaction has added one.
  var feedEnd: ChangeFeedEnd?

  init(_ write: WriteTransaction) throws {
    self.write = write
    before = try SyncRecord.read(write.database.connection)
    sync = before
  }

  var connection: SQLiteConnection { write.database.connection }

  /// Writes what is kept in memory.
  func close() throws {
    try trimFeed()
    if sync != before { try sync.save(connection) }
  }

  // MARK: - Shadow

  /// Returns what the server had of a key last; `nil` if nothing.
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

  /// Records what the server has of a key; `nil` is nothing.
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

  /// Lets batches be sent again that were set aside because of what the server had of a key.
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
    /// The highest number that was seen.
    var number: Int64
    /// Whether this file is the writer, or was.
    var isOwn: Bool
  }

  func writers() throws -> [WriterTag: Writer] {
    var writers: [WriterTag: Writer] = [:]
    try connection.run("SELECT tag, number, own FROM writer") { row in
      writers[WriterTag(row.bytes(0))] = Writer(
        number: row.integer(1) ?? 0, isOwn: row.integer(2) == 1)
    }
    return writers
  }

  /// Whether this file writes with a tag, or did.
  func isOwn(_ tag: WriterTag) throws -> Bool {
    try connection.exists("SELECT 1 FROM writer WHERE tag = ? AND own = 1", .bytes(tag.bytes))
  }

  /// Records that a writer has sent a batch.
  func note(_ number: Int64, of tag: WriterTag) throws {
    try connection.run(
      """
      INSERT INTO writer VALUES(?, ?, 0) ON CONFLICT(tag) DO UPDATE SET number = excluded.number \
      WHERE excluded.number > number
      """, .bytes(tag.bytes), .integer(number))
  }

  /// Becomes another writer, which has sent nothing yet.
  func takeNewTag() throws {
    sync.takeNewTag()
    try connection.run("INSERT INTO writer VALUES(?, 0, 1)", .bytes(sync.writer.bytes))
  }

  // MARK: - Values

  /// Changes a value as the server or a decision has it, and tells observers of all processes.
  func apply(
    _ new: StoredValue?, for key: KeyBytes, conflict: Bool, from writer: WriterTag?
  ) throws {
    let old = try presentValue(of: key)
    guard try write.apply(new, for: key) else { return }
    try addToFeed(key, from: old, to: new, conflict: conflict, writer)
  }

  /// Returns the value that the file has; `nil` also if it is damaged, as it may be replaced.
  func presentValue(of key: KeyBytes) throws -> StoredValue? {
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
    if !writers.isEmpty { try acknowledgeLateBatches(rows, writers, revision.revision) }
    var changes: [RemoteChange] = []
    for row in rows where try isNew(row) {
      changes.append(try receive(row, of: KeyBytes(row.key)))
      if let writer = row.writer, let number = row.number { try note(number, of: writer) }
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

  /// The row of this writer was written, in a revision.
  private func merge(_ row: [UInt8]?, _ revision: Int64) throws -> Bool {
    // The sender may have heard of later batches.
    guard revision > sync.writtenRevision, row != sync.writerRow else { return true }
    if row == sync.newWriterRow, try isInFlight() {
      try acknowledge(revision: revision)
      return true
    }
    guard row == nil else { return false }
    try forgetWriterRow(nil, revision)
    return true
  }

  /// The server has an older row of this writer, or none: what was numbered last cannot be performed.
  func forgetWriterRow(_ row: [UInt8]?, _ revision: Int64) throws {
    sync.writerRow = row
    sync.writtenRevision = revision
    try recall()
  }

  /// Whether a row is another one than the shadow has.
  private func isNew(_ row: SharedRow) throws -> Bool {
    let key = KeyBytes(row.key)
    guard let known = try shadow(key) else { return true }
    guard known.revision < row.revision else { return false }
    if known.bytes == row.bytes { try setShadow(row, of: key) }
    return known.bytes != row.bytes
  }

  /// The value of a row, if this release can read it; of no row, there is none.
  static func readable(_ row: SharedRow?) -> (value: StoredValue?, Void)? {
    guard let row else { return (nil, ()) }
    guard case .value(let stored) = row.form else { return nil }
    if let stored, ValueDecoder.decode(stored) == nil { return nil }
    return (stored, ())
  }
}

extension ReplicaTransaction {
  /// Compares everything that the server has with the shadow.
  ///
  /// `known` is `nil` if nothing is sent meanwhile.
  func apply(_ snapshot: SharedSnapshot, since known: SharingState?) throws -> SnapshotOutcome {
    guard let identity = snapshot.identity, sync.identity ?? identity == identity else {
      return .foreign
    }
    sync.identity = identity
    let outcome = try mergeWriter(of: snapshot, since: known)
    guard outcome == .applied else { return outcome }
    try acknowledgeLateBatches(snapshot.rows, snapshot.writers, snapshot.revision)
    let seen = try writers()
    var shadows = try Self.shadows(connection)
    var changes: [RemoteChange] = []
    for row in snapshot.rows {
      let key = KeyBytes(row.key)
      let known = shadows.removeValue(forKey: key)
      if let known, known.bytes == row.bytes {
        if known.revision != row.revision { try setShadow(row, of: key) }
      } else {
        changes.append(try compare(row, with: known, key, seen, snapshot))
      }
    }
    for (key, known) in shadows { changes.append(try noteMissing(known, key, snapshot)) }
    try merge(changes)
    for row in snapshot.rows {
      if let writer = row.writer, let number = row.number { try note(number, of: writer) }
    }
    for (tag, row) in snapshot.writers {
      if let number = WriterRow.number(row) { try note(number, of: tag) }
    }
    sync.revision = snapshot.revision
    sync.arrival = .serverChange
    return .applied
  }

  /// Finds out what the server has of this writer.
  private func mergeWriter(
    of snapshot: SharedSnapshot, since known: SharingState?
  ) throws -> SnapshotOutcome {
    let row = snapshot.writers[sync.writer]
    guard row != sync.writerRow else { return .applied }
    if row == sync.newWriterRow, try isInFlight() {
      try acknowledge(revision: snapshot.revision)
      return .applied
    }
    // The sender has heard of a later batch since.
    if let known, known.writerRow != sync.writerRow { return .outdated }
    let number = sync.writerRow.flatMap(WriterRow.number) ?? 0
    guard row.flatMap(WriterRow.number) ?? 0 < number else { return .cloned }
    // The server was restored: batches were lost.
    try forgetWriterRow(row, snapshot.revision)
    return .applied
  }

  /// A row differs from what the server had.
  private func compare(
    _ row: SharedRow, with known: SharedRow?, _ key: KeyBytes, _ seen: [WriterTag: Writer],
    _ snapshot: SharedSnapshot
  ) throws -> RemoteChange {
    let lost = known.flatMap { known in
      Self.isOwn(known, seen) && Self.isLost(known, snapshot) ? known : nil
    }
    // Everything up to that number of its writer was received before, so this is older than what the
    // engine had: it was restored. But what has a later revision than that was written since, by a
    // writer that was restored, too, and gives numbers again.
    let isOlder =
      if let writer = row.writer, let number = row.number, let last = seen[writer]?.number {
        number <= last && row.revision <= known?.revision ?? sync.revision
      } else {
        false
      }
    // An own change that the server has lost is sent again, before what is unsent; if the key was
    // changed since, that is decided as if it had not been sent.
    if let lost, let value = Self.readable(lost) {
      switch try firstBatch(of: key) {
      case nil: try enqueue(value.value, for: key)
      // What replaces it is based on it alone.
      case Self.unbatched: break
      case .some: try enqueueFirst(value.value, for: key)
      }
    }
    return try receive(row, of: key, isOlder: isOlder)
  }

  /// The server has no row any more.
  private func noteMissing(
    _ known: SharedRow, _ key: KeyBytes, _ snapshot: SharedSnapshot
  ) throws -> RemoteChange {
    guard case .value(_?) = known.form, sync.revision < snapshot.floor,
      !Self.isLost(known, snapshot)
    else { return try noteLoss(known, key) }
    // The removal was collected while this machine was away.
    return try receive(nil, of: key)
  }

  private static func isOwn(_ row: SharedRow, _ seen: [WriterTag: Writer]) -> Bool {
    row.writer.flatMap { seen[$0]?.isOwn } ?? false
  }

  /// Whether the server does not know that this row was ever written.
  private static func isLost(_ row: SharedRow, _ snapshot: SharedSnapshot) -> Bool {
    guard let writer = row.writer, let number = row.number else { return false }
    // The server forgets those.
    if writer.isForgotten, snapshot.writers[writer] == nil { return false }
    return snapshot.writers[writer].flatMap(WriterRow.number) ?? 0 < number
  }
}
