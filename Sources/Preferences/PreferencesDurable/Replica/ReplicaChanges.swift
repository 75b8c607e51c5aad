package import FoundationEssentials
package import PreferencesCore

/// A key whose row on the server differs from the shadow's.
struct RemoteChange {
  let key: KeyBytes
  /// The server's row, or `nil` if there is none.
  let row: SharedRow?
  /// Whether it replaces the row that this file had; otherwise it changes no value.
  var isNewer = true
}

// First all rows of a revision or snapshot are taken into the shadow, and then merged, because the
// fate of a transaction depends on all its keys.
extension ReplicaTransaction {
  // MARK: - The shadow

  /// Returns the newest row of a key that this file had, on which the unsent changes are based.
  func newestRow(_ key: KeyBytes) throws -> SharedRow? { try lostRow(key)?.row ?? shadow(key) }

  /// Records that the server's row of a key differs from the shadow.
  ///
  /// Only a newer row replaces the row that this file had. An older one came back with a snapshot
  /// or from a machine that had no newer one; then this file's row is sent again. `isLost` returns
  /// whether the server has lost this file's row.
  func receive(
    _ row: SharedRow, of key: KeyBytes, isLost: (RowOrigin) -> Bool = { _ in false }
  ) throws -> RemoteChange {
    let known = try newestRow(key)
    if let known, let origin = row.origin, let old = known.origin, old.isNewer(than: origin) {
      try setShadow(row, of: key)
      try recallBatch(of: key)
      try sendAgain(known, of: key)
      return RemoteChange(key: key, row: row, isNewer: false)
    }
    return try take(row, of: key, inPlaceOf: known, isLost: isLost)
  }

  /// Records a row that is at least as new as the one that this file had.
  func take(
    _ row: SharedRow, of key: KeyBytes, inPlaceOf known: SharedRow?, isLost: (RowOrigin) -> Bool
  ) throws -> RemoteChange {
    let wasLost = try lostRow(key) != nil
    try setShadow(row, of: key)
    try recallBatch(of: key)
    try dropLostRow(key)
    guard let known, !row.isSameChange(as: known) else {
      return RemoteChange(key: key, row: row, isNewer: known == nil)
    }
    // The row's writer did not know the lost change, so for the machine that made it, it is a
    // conflict. In the same life of the server, however, a later change was based on the earlier
    // one.
    if let old = known.origin, !row.isSentAgain || row.origin?.time.life != old.time.life,
      case .value(let value) = known.form, try isOwn(old.writer),
      wasLost || isLost(old), try firstOwnBatch(of: key) == nil
    {
      try enqueue(value, for: key)
    }
    return RemoteChange(key: key, row: row)
  }

  /// Records that a row is missing although its key was not removed; the value is sent again, and
  /// if the server was restored, a removal, too.
  func noteLoss(
    _ known: SharedRow?, _ key: KeyBytes, isRestored: Bool = false
  ) throws -> RemoteChange {
    try setShadow(nil, of: key)
    try recallBatch(of: key)
    let change = RemoteChange(key: key, row: nil, isNewer: false)
    guard try lostRow(key) == nil, let known else { return change }
    switch known.form {
    case .value(nil) where !isRestored: break
    case .value: try sendAgain(known, of: key)
    case .newer, .damaged:
      if try firstBatch(of: key) == nil, let own = try presentValue(of: key) {
        try enqueue(own, for: key)
      }
    }
    return change
  }

  /// Recalls the numbered batch if it has the first unsent change of the key.
  func recallBatch(of key: KeyBytes) throws {
    guard let first = try firstBatch(of: key), first != Self.unbatched,
      try batch(first).state == .inFlight
    else { return }
    try recall()
  }

  // MARK: - The values

  /// Sets the values of keys to those of the server, or records conflicts.
  func merge(_ received: [RemoteChange]) throws {
    guard !received.isEmpty else { return }
    try enqueueLostRows()
    for one in received where one.isNewer { try merge(one) }
    guard !sync.settings.programDecides else { return }
    // A row that was unreadable may be readable now, or gone.
    for batch in try batches(in: .conflict).map(\.id) where try !changes(of: batch).isEmpty {
      try decideByOrder(batch)
    }
  }

  private func merge(_ change: RemoteChange) throws {
    // An unreadable row changes nothing here.
    guard let shared = Self.readable(change.row) else { return }
    guard let first = try firstOwnBatch(of: change.key) else {
      return try apply(shared.value, for: change.key, conflict: false, from: change.row?.writer)
    }
    if try isShared(first, change.key) {
      return try first == Self.unbatched ? removeUnbatched(change.key) : remove(first)
    }
    guard sync.settings.programDecides else { return try decideByOrder(first, change.key) }
    try set(.conflict, of: first == Self.unbatched ? try claim(change.key) : first)
    write.wakesOthers = true
  }

  /// Whether the server has all values of a batch, from any writer, and no earlier change is
  /// unsent.
  private func isShared(_ batch: Int64, _ key: KeyBytes) throws -> Bool {
    for change in try changes(of: batch, only: batch == Self.unbatched ? key : nil) {
      guard try firstBatch(of: change.key) == batch else { return false }
      guard let shared = Self.readable(try shadow(change.key)), shared.value == change.value
      else { return false }
    }
    return true
  }

  /// Replaces a batch, and all that is based on it, with the server's values.
  func decideByOrder(_ batch: Int64, _ key: KeyBytes? = nil) throws {
    let dropped = try dependents(of: batch, key)
    guard let unreadable = try unreadableKey(of: dropped) else { return try takeShared(dropped) }
    // Otherwise a part of a transaction would remain.
    let batch = if batch == Self.unbatched, let key { try claim(key) } else { batch }
    guard try self.batch(batch).state != .conflict else { return }
    try set(.conflict, of: batch, Self.unreadable(unreadable))
    write.wakesOthers = true
  }
}

extension ReplicaTransaction {
  /// The greatest number of entries in the change feed, and of bytes in their values.
  private static let greatestCount: Int64 = 10_000
  private static let greatestSize: Int64 = 16 << 20

  /// The same for changes that were given up, counted among all entries.
  ///
  /// No other record has them, so they are kept longer.
  private static let greatestLossCount: Int64 = 200_000
  private static let greatestLossSize: Int64 = 64 << 20

  func addToFeed(
    _ key: KeyBytes, from old: PreferenceValue.Encoded?, to new: PreferenceValue.Encoded?,
    conflict: Bool,
    _ writer: WriterTag?, reason: ChangeFeedEntry.Reason? = nil
  ) throws {
    let size = key.bytes.count + (old?.bytes.count ?? 0) + (new?.bytes.count ?? 0)
    var last = if let feedEnd { feedEnd } else { try ChangeFeedEnd(connection) }
    last.number += 1
    last.position += Int64(size)
    feedEnd = last
    try connection.run(
      "INSERT INTO journal VALUES(?, ?, \(SharingSchema.now), ?, ?, ?, ?, ?, ?, ?, ?)",
      .integer(last.number), .integer(last.position),
      .integer(Int64((reason ?? sync.arrival).rawValue)), .integer(conflict ? 1 : 0),
      .bytes(writer?.bytes ?? []), .bytes(key.bytes),
      .integer(Int64((old?.kind ?? .removed).rawValue)), .bytes(old?.bytes ?? []),
      .integer(Int64((new?.kind ?? .removed).rawValue)), .bytes(new?.bytes ?? []))
  }

  /// Removes the oldest entries if some were added.
  func trimFeed() throws {
    guard let feedEnd else { return }
    for (kind, count, size) in [
      (0, Self.greatestCount, Self.greatestSize),
      (1, Self.greatestLossCount, Self.greatestLossSize),
    ] {
      var first = feedEnd.number
      try connection.run(
        "SELECT number FROM journal WHERE number > ? AND position > ? ORDER BY number LIMIT 1",
        .integer(first - count), .integer(feedEnd.position - size)
      ) { row in first = row.integer(0) ?? first }
      try connection.run(
        "DELETE FROM journal WHERE conflict = \(kind) AND number < ?", .integer(first))
    }
  }
}

/// The last entry of the change feed.
struct ChangeFeedEnd {
  var number: Int64 = 0
  /// The total size of keys and values up to it.
  var position: Int64 = 0

  init(_ connection: SQLiteConnection) throws {
    try connection.run("SELECT number, position FROM journal ORDER BY number DESC LIMIT 1") {
      row in (number, position) = (row.integer(0) ?? 0, row.integer(1) ?? 0)
    }
  }
}

/// A change of the file that no local writer has made, or a decision of a program.
package struct ChangeFeedEntry: Sendable {
  package enum Reason: Int, Sendable {
    case serverChange = 0
    case initialSync = 1
    case quotaViolation = 2
    case accountChange = 3
    /// A program of this machine has decided a conflict.
    case decision = 4
  }

  package let number: Int64
  package let date: Date
  package let reason: Reason
  package let key: PreferenceKey
  /// The values before and after; for a lost conflict, `old` is the local value.
  package let old: PreferenceValue?
  package let new: PreferenceValue?
  package let isConflict: Bool
  package let writer: WriterTag?
}
