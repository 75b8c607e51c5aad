internal import PreferencesCore

// A server that was restored from an older snapshot has lost later changes, uses the same revisions
// again, and may have accepted changes before any machine noticed. The first machine that notices
// begins a new life of the server. Then every machine sends again, unchanged, what is newer than on
// the server, and the newest row of each key stays.
extension ReplicaTransaction {
  /// Compares everything on the server with the shadow.
  ///
  /// `known` is `nil` if nothing is sent meanwhile.
  func apply(
    _ snapshot: SharedSnapshot, since known: SharingState?, beginsLife: Bool
  ) throws -> SnapshotOutcome {
    guard let identity = snapshot.identity,
      StoreIdentity.isSame(sync.identity ?? identity, identity)
    else { return .foreign }
    let own = try ownWriter(in: snapshot, since: known)
    if let outcome = own.outcome { return outcome }
    let seen = try writers()
    let before = sync.identity.map(StoreIdentity.life) ?? StoreIdentity.life(identity)
    let numbers = Self.numbers(snapshot)
    let isOlder = try StoreIdentity.life(identity) < before || hasLost(snapshot, numbers, seen)
    if isOlder, beginsLife, StoreIdentity.life(identity) <= before {
      return .restored(StoreIdentity.renewed(identity, after: before))
    }
    let isRestored = isOlder || StoreIdentity.life(identity) > before
    sync.identity = identity
    try take(own, of: snapshot, isRestored: isRestored)
    try acknowledgeLateBatches(snapshot.rows, snapshot.writers)
    let restored =
      isRestored
      ? RestoredServer(
        life: before, numbers: numbers, seen: seen, survived: try survived(snapshot, seen)) : nil
    try compare(snapshot, restored)
    try note(numbers, isRestored: isRestored)
    sync.revision = snapshot.revision
    sync.arrival = .serverChange
    return .applied
  }

  // MARK: - Writers

  private enum OwnWriter {
    case known
    /// The numbered batch was performed.
    case performed
    /// The server has an older row, or none.
    case lost
    case failed(SnapshotOutcome)

    var outcome: SnapshotOutcome? { if case .failed(let outcome) = self { outcome } else { nil } }
  }

  private func ownWriter(
    in snapshot: SharedSnapshot, since known: SharingState?
  ) throws -> OwnWriter {
    let row = snapshot.writers[sync.writer]
    if row == sync.writerRow { return .known }
    if row == sync.newWriterRow, try isInFlight() { return .performed }
    // The sender has received a later acknowledgement.
    if let known, known.writerRow != sync.writerRow { return .failed(.outdated) }
    let number = sync.writerRow.flatMap(WriterRow.number) ?? 0
    return row.flatMap(WriterRow.number) ?? 0 < number ? .lost : .failed(.cloned)
  }

  private func take(
    _ own: OwnWriter, of snapshot: SharedSnapshot, isRestored: Bool
  ) throws {
    switch own {
    case .known, .failed:
      // A row contains the life in which it was numbered.
      if isRestored { try recall() }
    case .performed, .lost:
      try forgetWriterRow(snapshot.writers[sync.writer], snapshot.revision)
    }
  }

  /// Whether the server lacks something that it had.
  private func hasLost(
    _ snapshot: SharedSnapshot, _ numbers: [WriterTag: Int64], _ seen: [WriterTag: Writer]
  ) throws -> Bool {
    if snapshot.revision < sync.revision { return true }
    // The server forgets the rows of other writers.
    for (tag, writer) in seen where !tag.isForgotten && numbers[tag] ?? 0 < writer.current {
      return true
    }
    let shadows = try Self.shadows(connection)
    return snapshot.rows.contains { $0.revision < shadows[KeyBytes($0.key)]?.revision ?? 0 }
  }

  private static func numbers(_ snapshot: SharedSnapshot) -> [WriterTag: Int64] {
    var numbers = snapshot.writers.compactMapValues(WriterRow.number)
    // A row that was sent again does not show its writer's other batches.
    for row in snapshot.rows where !row.isSentAgain {
      guard let origin = row.origin else { continue }
      numbers[origin.writer] = max(numbers[origin.writer] ?? 0, origin.number)
    }
    return numbers
  }

  private func note(_ numbers: [WriterTag: Int64], isRestored: Bool) throws {
    if isRestored { try connection.run("UPDATE writer SET current = 0") }
    for (tag, number) in numbers { try note(number, of: tag) }
  }

  // MARK: - Rows

  /// What is known of a restored server.
  private struct RestoredServer {
    /// The life that this file was in step with.
    let life: Int64
    /// The last numbers of the writers on the server, and the last known ones.
    let numbers: [WriterTag: Int64]
    let seen: [WriterTag: Writer]
    /// A revision that the snapshot contains, at least.
    let survived: Int64

    /// Whether the server has lost a row of this file.
    func hasLost(_ own: RowOrigin) -> Bool { numbers[own.writer] ?? 0 < own.number }

    /// Whether a row was received before the server was restored.
    func hadReceived(_ row: SharedRow, _ origin: RowOrigin) -> Bool {
      row.revision <= survived || origin.number <= seen[origin.writer]?.number ?? 0
    }
  }

  private func survived(
    _ snapshot: SharedSnapshot, _ seen: [WriterTag: Writer]
  ) throws -> Int64 {
    var last: Int64 = 0
    // Own rows may have been sent after the restore, which the sender does not notice.
    for row in snapshot.rows where !row.isSentAgain && row.revision > last {
      guard let origin = row.origin, seen[origin.writer]?.isOwn != true,
        try newestRow(KeyBytes(row.key))?.origin == origin
      else { continue }
      last = row.revision
    }
    return last
  }

  private func compare(_ snapshot: SharedSnapshot, _ restored: RestoredServer?) throws {
    var shadows = try Self.shadows(connection)
    var changes: [RemoteChange] = []
    for row in snapshot.rows {
      let key = KeyBytes(row.key)
      if let known = shadows.removeValue(forKey: key), known.bytes == row.bytes {
        if known.revision != row.revision { try setShadow(row, of: key) }
      } else if let restored, let change = try receive(row, of: key, restored) {
        changes.append(change)
      } else {
        changes.append(try receive(row, of: key) { restored?.hasLost($0) ?? false })
      }
    }
    for (key, known) in shadows {
      changes.append(try noteMissing(known, key, snapshot, isRestored: restored != nil))
    }
    try merge(changes)
  }

  /// Handles a row of the restored server whose time cannot be compared with that of this file's
  /// row; returns `nil` if it can.
  private func receive(
    _ row: SharedRow, of key: KeyBytes, _ restored: RestoredServer
  ) throws -> RemoteChange? {
    guard !row.isSentAgain, let origin = row.origin, origin.time.life <= restored.life,
      case .value(let value) = row.form
    else { return nil }
    let hadReceived = restored.hadReceived(row, origin)
    guard let known = try newestRow(key) else {
      guard hadReceived, origin.time.life == restored.life, row.revision <= sync.revision,
        value != nil
      else { return nil }
      // The key was removed, and the removal collected.
      let time = RowTime(life: restored.life, revision: sync.revision)
      let removal = RowOrigin(writer: sync.writer, number: 0, time: time)
      try setShadow(row, of: key)
      try recallBatch(of: key)
      try sendAgain(SharedRow(key: key.text, stored: nil, origin: removal), of: key)
      return RemoteChange(key: key, row: row, isNewer: false)
    }
    // It was written after the server was restored and before any machine noticed: it is newer than
    // all lost rows, although its revision is not.
    guard known.origin?.isNewer(than: origin) == true, !hadReceived, !row.isSameChange(as: known)
    else { return nil }
    let change = try take(row, of: key, inPlaceOf: known, isLost: restored.hasLost)
    if sync.life > restored.life {
      let time = RowTime(life: sync.life, revision: row.revision)
      let renewed = RowOrigin(writer: origin.writer, number: origin.number, time: time)
      try sendAgain(SharedRow(key: key.text, stored: value, origin: renewed), of: key)
    }
    return change
  }

  /// Handles a row that the server no longer has.
  private func noteMissing(
    _ known: SharedRow, _ key: KeyBytes, _ snapshot: SharedSnapshot, isRestored: Bool
  ) throws -> RemoteChange {
    guard case .value(_?) = known.form, !isRestored, sync.revision < snapshot.floor,
      try lostRow(key) == nil
    else { return try noteLoss(known, key, isRestored: isRestored) }
    // The removal was collected while this machine was away.
    try setShadow(nil, of: key)
    try recallBatch(of: key)
    return RemoteChange(key: key, row: nil)
  }
}
