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
        if let number = WriterRow.number(row) { try note(number, of: tag) }
        if try isOwn(tag) { writers[tag] = row }
      case .row(let row): rows.append(row)
      case .writer, .removed, .floor: break
      }
    }
    if !writers.isEmpty { try acknowledgeLateUnits(rows, writers, revision.revision) }
    var news: [News] = []
    for row in rows where try isNew(row) {
      news.append(try take(row, of: KeyBytes(row.key)))
      if let writer = row.writer, let number = row.number { try note(number, of: writer) }
    }
    for case .removed(let text) in revision.changes {
      let key = KeyBytes(text)
      guard let known = try shadow(key), known.revision < revision.revision else { continue }
      news.append(try lose(known, key))
    }
    try meet(news)
    sync.revision = revision.revision
    return true
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

  /// Whether a row is another one than the shadow has.
  private func isNew(_ row: SharedRow) throws(PreferencesError) -> Bool {
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
