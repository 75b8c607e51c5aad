package import FoundationEssentials
package import PreferencesCore

/// A key of which the server has another row than the shadow had.
struct RemoteChange {
  let key: KeyBytes
  /// The row; `nil` is none.
  let row: SharedRow?
  /// Whether it takes the place of what this file had; otherwise it changes no value.
  var isNewer = true
}

// All rows of a revision, or of a snapshot, are taken into the shadow before any of them is merged: what
// becomes of a transaction depends on all its keys.
extension ReplicaTransaction {
  // MARK: - The shadow

  /// Returns the newest row of a key that this file had: what the unsent changes are based on.
  func newestRow(_ key: KeyBytes) throws -> SharedRow? { try lostRow(key)?.row ?? shadow(key) }

  /// The server has another row of a key than the shadow.
  ///
  /// Only a newer row takes the place of what this file had. That is sent again in the place of an
  /// older one, which the server has got back with a snapshot, or from a machine that had not more.
  /// `isLost` says of that whether the server has lost it.
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

  /// The server has a row that is at least as new as what this file had.
  func take(
    _ row: SharedRow, of key: KeyBytes, inPlaceOf known: SharedRow?, isLost: (RowOrigin) -> Bool
  ) throws -> RemoteChange {
    let wasLost = try lostRow(key) != nil
    try setShadow(row, of: key)
    try recallBatch(of: key)
    try settleLostRow(key)
    guard let known, !row.isSameChange(as: known) else {
      return RemoteChange(key: key, row: row, isNewer: known == nil)
    }
    // Whoever wrote the row did not know of the lost change: to the machine that has made that, it is
    // a conflict. But in one life, a later change was based on the earlier one.
    if let old = known.origin, !row.isSentAgain || row.origin?.time.life != old.time.life,
      case .value(let value) = known.form, try isOwn(old.writer),
      wasLost || isLost(old), try firstOwnBatch(of: key) == nil
    {
      try enqueue(value, for: key)
    }
    return RemoteChange(key: key, row: row)
  }

  /// A row is no longer there, and nothing says that the key was removed: the value is sent again, and
  /// the removal if the server was restored.
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

  /// What was numbered cannot be performed any more, if the first unsent change of a key was.
  func recallBatch(of key: KeyBytes) throws {
    guard let first = try firstBatch(of: key), first != Self.unbatched,
      try batch(first).state == .inFlight
    else { return }
    try recall()
  }

  // MARK: - The values

  /// Changes the values of keys as the server has them, or finds conflicts.
  func merge(_ received: [RemoteChange]) throws {
    guard !received.isEmpty else { return }
    try enqueueLostRows()
    for one in received where one.isNewer { try merge(one) }
    guard !sync.settings.programDecides else { return }
    // What could not be read may be readable now, or gone.
    for batch in try batches(in: .conflict).map(\.id) where try !changes(of: batch).isEmpty {
      try decideByOrder(batch)
    }
  }

  private func merge(_ change: RemoteChange) throws {
    // What cannot be read stays as it is, here as well.
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

  /// Whether the server has all values of a batch, from whomever, and nothing is unsent below it.
  private func isShared(_ batch: Int64, _ key: KeyBytes) throws -> Bool {
    for change in try changes(of: batch, only: batch == Self.unbatched ? key : nil) {
      guard try firstBatch(of: change.key) == batch else { return false }
      guard let shared = Self.readable(try shadow(change.key)), shared.value == change.value
      else { return false }
    }
    return true
  }

  /// What the server has takes the place of a batch, and of all that is based on it.
  func decideByOrder(_ batch: Int64, _ key: KeyBytes? = nil) throws {
    let dropped = try dependents(of: batch, key)
    guard let unreadable = try unreadableKey(of: dropped) else { return try takeShared(dropped) }
    // Otherwise a part of a transaction would stay.
    let batch = if batch == Self.unbatched, let key { try claim(key) } else { batch }
    guard try self.batch(batch).state != .conflict else { return }
    try set(.conflict, of: batch, Self.unreadable(unreadable))
    write.wakesOthers = true
  }
}

extension ReplicaTransaction {
  /// How many entries the change feed has at most, and how large their values are together.
  private static let greatestCount: Int64 = 10_000
  private static let greatestSize: Int64 = 16 << 20

  /// The same for changes that were given up, counted among all entries.
  ///
  /// Nothing else tells of them, so they stay longer.
  private static let greatestLossCount: Int64 = 200_000
  private static let greatestLossSize: Int64 = 64 << 20

  func addToFeed(
    _ key: KeyBytes, from old: PreferenceValue.Encoded?, to new: PreferenceValue.Encoded?, conflict: Bool,
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

  /// Forgets the oldest entries, if some were added.
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
  /// The size of the keys and values up to it.
  var position: Int64 = 0

  init(_ connection: SQLiteConnection) throws {
    try connection.run("SELECT number, position FROM journal ORDER BY number DESC LIMIT 1") {
      row in (number, position) = (row.integer(0) ?? 0, row.integer(1) ?? 0)
    }
  }
}

/// A change of the file that did not come from a local writer, or what a program has decided.
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
  /// Before and after; a conflict that was lost has the local value in `old`.
  package let old: PreferenceValue?
  package let new: PreferenceValue?
  package let isConflict: Bool
  package let writer: WriterTag?
}
