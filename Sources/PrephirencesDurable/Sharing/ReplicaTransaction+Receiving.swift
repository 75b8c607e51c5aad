internal import Prephirences

extension ReplicaTransaction {
  /// Applies the changes of one revision that a watch has reported.
  ///
  /// - Returns: `false` if another file writes with this file's tag; nothing was applied then.
  func apply(_ revision: SharedRevision) throws(PreferencesError) -> Bool {
    guard revision.revision > sync.revision else { return true }
    var rows: [SharedRow] = []
    var writers: [WriterTag: [UInt8]] = [:]
    for change in revision.changes {
      switch change {
      case .writer(let tag, let row) where tag == sync.writer:
        guard try meet(row, revision.revision) else { return false }
      case .writer(let tag, let row?):
        if let number = Self.number(ofWriter: row) { try note(number, of: tag) }
        if try isOwn(tag) { writers[tag] = row }
      case .row(let row): rows.append(row)
      case .writer, .removed, .floor: break
      }
    }
    if !writers.isEmpty { try acknowledgeLateUnits(rows, writers, revision.revision) }
    for row in rows { try receiveNews(row) }
    for case .removed(let text) in revision.changes {
      let key = KeyBytes(text)
      guard let known = try shadow(key), known.revision < revision.revision else { continue }
      try lose(known, key)
    }
    sync.revision = revision.revision
    return true
  }

  static func number(ofWriter row: [UInt8]) -> Int64? {
    guard row.count == 25, row[0] == 1 else { return nil }
    return BigEndian.number(row[1..<9])
  }

  /// The row of this writer was written, in a revision.
  private func meet(_ row: [UInt8]?, _ revision: Int64) throws(PreferencesError) -> Bool {
    // The sender may have heard of later units.
    guard revision > sync.writtenRevision, row != sync.writerRow else { return true }
    if row == sync.newWriterRow, try isInFlight() {
      try acknowledge(revision: revision)
      return true
    }
    guard row == nil else { return false }
    try forgetWriterRow(nil, revision)
    return true
  }

  /// The engine has an older row of this writer, or none: what was numbered last cannot be performed.
  func forgetWriterRow(_ row: [UInt8]?, _ revision: Int64) throws(PreferencesError) {
    sync.writerRow = row
    sync.writtenRevision = revision
    try recall()
  }

  private func receiveNews(_ row: SharedRow) throws(PreferencesError) {
    let key = KeyBytes(row.key)
    if let known = try shadow(key) {
      guard known.revision < row.revision else { return }
      if known.bytes == row.bytes { return try setShadow(row, of: key) }
    }
    try receive(row, of: key)
    if let writer = row.writer, let number = row.number { try note(number, of: writer) }
  }

  // MARK: - One row

  /// The engine has another row of a key than the shadow; `nil` is none.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - key: The key.
  ///   - isOlder: Whether unsent changes were made in knowledge of it.
  /// - Throws: ``PreferencesError``.
  func receive(
    _ row: SharedRow?, of key: KeyBytes, isOlder: Bool = false
  ) throws(PreferencesError) {
    try setShadow(row, of: key)
    let first = try firstUnit(of: key)
    if let first, first != Self.loose, try unit(first).state == .inFlight { try recall() }
    // What cannot be read stays as it is, here as well.
    guard let shared = Self.readable(row) else { return }
    guard let first else {
      return try apply(shared.value, for: key, conflict: false, from: row?.writer)
    }
    guard !isOlder else { return }
    let isSingle = first == Self.loose ? true : try !unit(first).isAtomic
    if isSingle, try changes(of: first, only: key).first?.value == shared.value {
      return try first == Self.loose ? removeLoose(key) : remove(first)
    }
    if sync.settings.programDecides {
      let unit = first == Self.loose ? try claim(key) : first
      try set(.conflict, of: unit)
      write.wakesOthers = true
    } else {
      let dropped = try dependents(of: first, key)
      // Otherwise a part of a transaction would stay.
      for other in dropped.keys where Self.readable(try shadow(other)) == nil {
        let unit = first == Self.loose ? try claim(key) : first
        return try set(
          .conflict, of: unit,
          "what the engine has of the key '\(other.text)' cannot be read by this release")
      }
      try takeShared(dropped)
    }
  }

  /// The value of a row, if this release can read it; of no row, there is none.
  static func readable(_ row: SharedRow?) -> (value: StoredValue?, Void)? {
    guard let row else { return (nil, ()) }
    guard case .value(let stored) = row.form else { return nil }
    if let stored, ValueDecoder.decode(stored) == nil { return nil }
    return (stored, ())
  }

  /// A row is no longer there, and nothing says that the key was removed: the value is sent again.
  func lose(_ known: SharedRow, _ key: KeyBytes) throws(PreferencesError) {
    try setShadow(nil, of: key)
    if let first = try firstUnit(of: key) {
      if first != Self.loose, try unit(first).state == .inFlight { try recall() }
    } else if let own = try ownValue(of: key, like: known) {
      try log(own, for: key)
    }
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
}
