internal import PreferencesCore

/// The state of a batch.
enum BatchState: Equatable {
  case waiting
  /// It was numbered last, and may have been performed.
  case inFlight
  /// A key of it was changed elsewhere, so it waits for a decision.
  case conflict
  case setAside(SetAsideReason)

  init?(_ number: Int64) {
    switch number {
    case 0: self = .waiting
    case 1: self = .inFlight
    case 2: self = .conflict
    default:
      guard let reason = SetAsideReason(rawValue: Int(number) - 10) else { return nil }
      self = .setAside(reason)
    }
  }

  var number: Int64 {
    switch self {
    case .waiting: 0
    case .inFlight: 1
    case .conflict: 2
    case .setAside(let reason): Int64(10 + reason.rawValue)
    }
  }
}

/// Changes that become visible elsewhere at once: a transaction, or a single change.
struct OutboxBatch {
  let id: Int64
  let isAtomic: Bool
  let state: BatchState
  /// The tag and row of the writer for the last number; the row is empty if the batch has no
  /// number.
  let writer: WriterTag
  let writerRow: [UInt8]
}

/// A change that the server does not have yet.
struct OutboxChange {
  let batch: Int64
  let key: KeyBytes
  let value: PreferenceValue.Encoded?
  /// Who made it and when; `nil` for a new change of this machine.
  var origin: RowOrigin?
}

/// A row that the server has lost, or has an older version of; it is sent again before unsent
/// changes of its key.
struct LostRow {
  let batch: Int64
  let row: SharedRow
}

extension ReplicaTransaction {
  /// The batch of single changes that have none of their own yet, each the last of its key.
  static let unbatched: Int64 = 0

  /// Returns the batch of a key's first unsent change, or `nil`.
  func firstBatch(of key: KeyBytes) throws -> Int64? {
    try connection.first(
      "SELECT unit FROM log WHERE key = ? AND unit != 0 ORDER BY unit LIMIT 1", .bytes(key.bytes)
    ) { $0.integer(0) } ?? (isUnbatched(key) ? Self.unbatched : nil)
  }

  /// Returns the batch of this machine's first unsent change, ignoring a lost row.
  func firstOwnBatch(of key: KeyBytes) throws -> Int64? {
    try connection.first(
      "SELECT unit FROM log WHERE key = ? AND unit != 0 AND unit > 0 ORDER BY unit LIMIT 1",
      .bytes(key.bytes)
    ) { $0.integer(0) } ?? (isUnbatched(key) ? Self.unbatched : nil)
  }

  func isUnbatched(_ key: KeyBytes) throws -> Bool {
    try connection.exists("SELECT 1 FROM log WHERE unit = 0 AND key = ?", .bytes(key.bytes))
  }

  /// Returns the last unsent change of a key, or `nil`.
  func lastChange(of key: KeyBytes) throws -> OutboxChange? {
    if let change = try changes(of: Self.unbatched, only: key).first { return change }
    return try connection.first(
      """
      SELECT unit, key, kind, value, origin FROM log WHERE key = ? AND unit != 0 \
      ORDER BY unit DESC LIMIT 1
      """, .bytes(key.bytes), element: Self.change)
  }

  func changes(of batch: Int64, only key: KeyBytes? = nil) throws -> [OutboxChange] {
    let columns = "SELECT unit, key, kind, value, origin FROM log WHERE unit = ?"
    guard let key else {
      return try connection.all(columns, .integer(batch), element: Self.change)
    }
    return try connection.all(
      columns + " AND key = ?", .integer(batch), .bytes(key.bytes), element: Self.change)
  }

  static func change(_ row: SQLiteStatement) throws -> OutboxChange {
    OutboxChange(
      batch: row.integer(0) ?? 0, key: try OpenDatabase.key(row, 1),
      value: OpenDatabase.value(row, 2), origin: RowOrigin(row.bytes(4)))
  }

  func batches(in state: BatchState) throws -> [OutboxBatch] {
    try connection.all(
      "SELECT id, atomic, state, tag, row FROM unit WHERE state = ? ORDER BY id",
      .integer(state.number)
    ) { try batch($0) }
  }

  func batch(_ id: Int64) throws -> OutboxBatch {
    let found = try connection.first(
      "SELECT id, atomic, state, tag, row FROM unit WHERE id = ?", .integer(id)
    ) { try batch($0) }
    guard let found else { throw PreferencesError.damagedSharing(connection.path) }
    return found
  }

  func batch(_ row: SQLiteStatement) throws -> OutboxBatch {
    guard let id = row.integer(0), let isAtomic = row.integer(1),
      let state = row.integer(2).flatMap(BatchState.init)
    else { throw PreferencesError.damagedSharing(connection.path) }
    return OutboxBatch(
      id: id, isAtomic: isAtomic == 1, state: state, writer: WriterTag(row.bytes(3)),
      writerRow: row.bytes(4))
  }

  /// Logs a value as an unsent single change.
  func enqueue(_ value: PreferenceValue.Encoded?, for key: KeyBytes, _ generation: Int64? = nil)
    throws
  {
    try connection.run(
      "INSERT INTO log VALUES(0, ?1, ?5, ?3, ?4, \(SharingSchema.now), ?2, x'')",
      .bytes(key.bytes), .integer(write.generation),
      .integer(Int64((value?.kind ?? .removed).rawValue)), .bytes(value?.bytes ?? []),
      .integer(generation ?? write.generation))
    write.wakesOthers = true
  }

  // MARK: - Lost rows

  /// Returns the lost row of a key that is to be sent again, or `nil`.
  func lostRow(_ key: KeyBytes) throws -> LostRow? {
    if let pending = lostRows[key] { return LostRow(batch: 0, row: pending) }
    return try connection.first(
      """
      SELECT unit, key, kind, value, origin FROM log WHERE key = ? AND unit != 0 AND unit < 0
      """, .bytes(key.bytes)
    ) { row in
      let change = try Self.change(row)
      return change.origin.map {
        LostRow(
          batch: change.batch,
          row: SharedRow(key: key.text, stored: change.value, origin: $0))
      }
    } ?? nil
  }

  /// Marks a row to be sent again by ``enqueueLostRows()``, if this release can read it.
  func sendAgain(_ row: SharedRow, of key: KeyBytes) throws {
    guard let origin = row.origin, case .value(let value) = row.form else { return }
    try dropLostRow(key)
    lostRows[key] = SharedRow(key: key.text, stored: value, origin: origin)
  }

  /// Forgets the lost row of a key.
  func dropLostRow(_ key: KeyBytes) throws {
    guard lostRows.removeValue(forKey: key) == nil, let lost = try lostRow(key) else { return }
    try remove(lost.batch)
  }

  /// Makes a batch of each lost row, before all others, in the order in which they were written.
  func enqueueLostRows() throws {
    guard !lostRows.isEmpty else { return }
    let rows = lostRows.compactMap { key, row in row.origin.map { (key, row, $0) } }
      .sorted { $1.2.isNewer(than: $0.2) }
    let least = try connection.integer("SELECT min(id) FROM unit") ?? 0
    for (index, (key, row, origin)) in rows.enumerated() {
      let batch = min(least, 0) - Int64(rows.count - index)
      guard case .value(let value) = row.form else { continue }
      try connection.run("INSERT INTO unit VALUES(?, 0, 0, x'', x'', x'')", .integer(batch))
      try connection.run(
        "INSERT INTO log VALUES(?, ?, 0, ?, ?, \(SharingSchema.now), 0, ?)", .integer(batch),
        .bytes(key.bytes), .integer(Int64((value?.kind ?? .removed).rawValue)),
        .bytes(value?.bytes ?? []), .bytes(origin.bytes))
    }
    lostRows = [:]
    write.wakesOthers = true
  }

  /// Makes an unbatched change a batch of its own.
  func claim(_ key: KeyBytes) throws -> Int64 {
    let batch = try write.makeBatch(isAtomic: false)
    try write.move(key, to: batch)
    return batch
  }

  func set(_ state: BatchState, of batch: Int64, _ message: String = "") throws {
    try connection.run(
      "UPDATE unit SET state = ?, message = ? WHERE id = ?", .integer(state.number),
      .bytes(Array(message.utf8)), .integer(batch))
  }

  func remove(_ batch: Int64) throws {
    try connection.run("DELETE FROM log WHERE unit = ?", .integer(batch))
    try connection.run("DELETE FROM unit WHERE id = ?", .integer(batch))
  }

  func removeUnbatched(_ key: KeyBytes) throws {
    try connection.run("DELETE FROM log WHERE unit = 0 AND key = ?", .bytes(key.bytes))
  }

  // MARK: - The batch that was numbered

  /// Whether a batch was numbered whose outcome is unknown.
  func isInFlight() throws -> Bool { try !batches(in: .inFlight).isEmpty }

  /// Records that the server has performed the numbered batch.
  func acknowledge(revision: Int64) throws {
    for batch in try batches(in: .inFlight) {
      for change in try changes(of: batch.id) {
        let row = sync.row(of: change)
        try setShadow(
          SharedRow(key: row.key, revision: revision, bytes: row.bytes), of: change.key)
      }
      try remove(batch.id)
    }
    sync.writerRow = sync.newWriterRow
    sync.writtenRevision = revision
    try note(sync.number, of: sync.writer)
  }

  /// Records that the server has not performed the numbered batch, and never can.
  func recall() throws {
    try connection.run("UPDATE unit SET state = 0 WHERE state = 1")
  }
}

extension ReplicaTransaction {
  /// Returns the numbered batch whose outcome is unknown.
  func numberedBatch() throws -> SharedBatch? {
    let batches = try batches(in: .inFlight)
    guard !batches.isEmpty else { return nil }
    var sent: [SharedBatch.Change] = []
    for batch in batches {
      for change in try changes(of: batch.id) {
        let row = sync.row(of: change)
        let base = try shadow(change.key).map { SharedBatch.Base.row($0) } ?? .absent
        sent.append(SharedBatch.Change(row: row, base: base))
      }
    }
    return SharedBatch(
      writer: sync.writer, number: sync.number, changes: sent, oldWriterRow: sync.writerRow,
      newWriterRow: sync.newWriterRow, isTransaction: batches.contains { $0.isAtomic })
  }

  /// Gives the next batch a number.
  func numberNextBatch() throws {
    // Without a shadow, changes have no base.
    guard sync.identity != nil, sync.revision > 0 else { return }
    try dropReplacedChanges()
    let chosen = try chooseBatches()
    guard !chosen.isEmpty else { return }
    sync.number += 1
    sync.nonce = WriterRow.newNonce()
    for batch in chosen {
      try connection.run(
        "UPDATE unit SET state = 1, tag = ?, row = ?, message = x'' WHERE id = ?",
        .bytes(sync.writer.bytes), .bytes(sync.newWriterRow), .integer(batch))
    }
  }

  /// Drops waiting single changes that a later change replaces.
  private func dropReplacedChanges() throws {
    let replaced = try connection.all(
      """
      SELECT log.unit, log.key FROM unit JOIN log ON log.unit = unit.id \
      WHERE unit.id > 0 AND unit.atomic = 0 AND unit.state NOT IN (1, 2) \
      AND EXISTS (SELECT 1 FROM log AS last WHERE last.unit = 0 AND last.key = log.key) \
      AND NOT EXISTS (SELECT 1 FROM log AS later WHERE later.key = log.key \
      AND later.unit > log.unit AND later.unit > 0)
      """
    ) { row in (batch: row.integer(0) ?? 0, key: try OpenDatabase.key(row, 1)) }
    for (batch, key) in replaced { try write.replaceChange(of: batch, key) }
  }
}

// A batch loses its number if its key is changed elsewhere, or if another file writes with this
// file's tag. A request on its way may still be performed. The number alone does not identify the
// batch then: a copy of the file may have used it for another one.
extension ReplicaTransaction {
  /// Acknowledges batches that the server performed after they lost their number.
  func acknowledgeLateBatches(_ rows: [SharedRow], _ writers: [WriterTag: [UInt8]]) throws {
    let batches = try batchesThatLostTheirNumber()
    guard !batches.isEmpty else { return }
    let rows = Dictionary(rows.map { (KeyBytes($0.key), $0) }) { first, _ in first }
    for batch in batches {
      guard let number = WriterRow.number(batch.writerRow) else { continue }
      let sent = try changes(of: batch.id).map { change in
        let new = RowOrigin(
          writer: batch.writer, number: number, time: RowTime(life: 0, revision: 0))
        let row = SharedRow(
          key: change.key.text, stored: change.value, origin: change.origin ?? new)
        return (
          key: change.key, row: rows[change.key].flatMap { $0.isSameChange(as: row) ? $0 : nil }
        )
      }
      let isPerformed =
        writers[batch.writer] == batch.writerRow
        // The writer has sent later batches; that all rows are as they were sent is enough.
        || (writers[batch.writer].flatMap(WriterRow.number) ?? 0 > number
          && sent.allSatisfy { $0.row != nil })
      guard isPerformed else { continue }
      // Rows that replaced them were written later, and so are newer than the shadow.
      for (key, row) in sent { if let row { try setShadow(row, of: key) } }
      try remove(batch.id)
    }
  }

  private func batchesThatLostTheirNumber() throws -> [OutboxBatch] {
    try connection.all(
      "SELECT id, atomic, state, tag, row FROM unit WHERE state != ? AND row != x'' ORDER BY id",
      .integer(BatchState.inFlight.number)
    ) { try batch($0) }
  }
}
