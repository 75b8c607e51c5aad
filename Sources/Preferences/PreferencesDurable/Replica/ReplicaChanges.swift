package import Foundation
package import PreferencesCore

/// A key of which the engine has another row than the shadow had.
struct News {
  let key: KeyBytes
  /// The row; `nil` is none.
  let row: SharedRow?
  /// Whether unsent changes were made in knowledge of the row.
  var isOlder = false
  /// Whether the row is gone without a removal, which changes no value.
  var isLost = false
}

// All rows of a revision, or of a snapshot, are taken into the shadow before any of them is met: what
// becomes of a transaction depends on all its keys.
extension ReplicaTransaction {
  // MARK: - The shadow

  /// The engine has another row of a key than the shadow; `nil` is none.
  func take(
    _ row: SharedRow?, of key: KeyBytes, isOlder: Bool = false
  ) throws(PreferencesError) -> News {
    try setShadow(row, of: key)
    try recallUnit(of: key)
    return News(key: key, row: row, isOlder: isOlder)
  }

  /// A row is no longer there, and nothing says that the key was removed: the value is sent again.
  func lose(_ known: SharedRow, _ key: KeyBytes) throws(PreferencesError) -> News {
    try setShadow(nil, of: key)
    try recallUnit(of: key)
    switch try firstUnit(of: key) {
    case nil: if let own = try ownValue(of: key, like: known) { try log(own, for: key) }
    case Self.loose: break
    case .some: if case .value(let value?) = known.form { try logFirst(value, for: key) }
    }
    return News(key: key, row: nil, isLost: true)
  }

  /// What was numbered cannot be performed any more, if the first unsent change of a key was.
  private func recallUnit(of key: KeyBytes) throws(PreferencesError) {
    guard let first = try firstUnit(of: key), first != Self.loose,
      try unit(first).state == .inFlight
    else { return }
    try recall()
  }

  /// Returns the value that this file has; if that is damaged, what the engine had.
  private func ownValue(
    of key: KeyBytes, like known: SharedRow
  ) throws(PreferencesError) -> StoredValue? {
    do throws(PreferencesError) {
      return try write.database.stored(key)
    } catch {
      guard error.code == .damaged else { throw error }
      guard case .value(let stored) = known.form else { return nil }
      return stored
    }
  }

  // MARK: - The values

  /// Changes the values of keys as the engine has them, or finds conflicts.
  func meet(_ news: [News]) throws(PreferencesError) {
    guard !news.isEmpty else { return }
    try placeLostValues()
    for one in news where !one.isLost { try meet(one) }
    guard !sync.settings.programDecides else { return }
    // What could not be read may be readable now, or gone.
    for unit in try units(in: .conflict).map(\.id) where try !changes(of: unit).isEmpty {
      try decideByOrder(unit)
    }
  }

  private func meet(_ news: News) throws(PreferencesError) {
    // What cannot be read stays as it is, here as well.
    guard let shared = Self.readable(news.row) else { return }
    guard let first = try firstUnit(of: news.key) else {
      return try apply(shared.value, for: news.key, conflict: false, from: news.row?.writer)
    }
    guard !news.isOlder else { return }
    if try isShared(first, news.key) {
      return try first == Self.loose ? removeLoose(news.key) : remove(first)
    }
    guard sync.settings.programDecides else { return try decideByOrder(first, news.key) }
    try set(.conflict, of: first == Self.loose ? try claim(news.key) : first)
    write.wakesOthers = true
  }

  /// Whether the engine has all values of a unit, from whomever, and nothing is unsent below it.
  private func isShared(_ unit: Int64, _ key: KeyBytes) throws(PreferencesError) -> Bool {
    for change in try changes(of: unit, only: unit == Self.loose ? key : nil) {
      guard try firstUnit(of: change.key) == unit else { return false }
      guard let shared = Self.readable(try shadow(change.key)), shared.value == change.value
      else { return false }
    }
    return true
  }

  /// What the engine has takes the place of a unit, and of all that is based on it.
  func decideByOrder(_ unit: Int64, _ key: KeyBytes? = nil) throws(PreferencesError) {
    let dropped = try dependents(of: unit, key)
    guard let unreadable = try unreadableKey(of: dropped) else { return try takeShared(dropped) }
    // Otherwise a part of a transaction would stay.
    let unit = if unit == Self.loose, let key { try claim(key) } else { unit }
    guard try self.unit(unit).state != .conflict else { return }
    try set(.conflict, of: unit, Self.unreadable(unreadable))
    write.wakesOthers = true
  }
}

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

/// A change of the file that did not come from a local writer, or what a program has decided.
package struct JournalEntry: @unchecked Sendable {
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
  package let old: PreferenceObject?
  package let new: PreferenceObject?
  package let isConflict: Bool
  package let writer: WriterTag?
}
