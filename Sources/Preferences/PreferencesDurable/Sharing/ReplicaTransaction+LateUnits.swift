internal import Prephirences

// A unit loses its number if its key is changed elsewhere, or if another file is found to write with
// this file's tag. A request that was on its way may be performed nevertheless. The number alone
// does not name a unit then: a copy of the file may have given it to another one.
extension ReplicaTransaction {
  /// Acknowledges units that the engine has performed after they lost their number.
  ///
  /// - Parameters:
  ///   - rows: The rows of keys that the engine has now, or that one revision has written.
  ///   - writers: The rows of writers likewise.
  ///   - revision: The revision.
  /// - Throws: ``PreferencesError``.
  func acknowledgeLateUnits(
    _ rows: [SharedRow], _ writers: [WriterTag: [UInt8]], _ revision: Int64
  ) throws(PreferencesError) {
    let units = try unitsThatLostTheirNumber()
    guard !units.isEmpty else { return }
    let rows = Dictionary(rows.map { (KeyBytes($0.key), $0) }) { first, _ in first }
    for unit in units {
      guard let number = WriterRow.number(unit.writerRow) else { continue }
      let sent = try changes(of: unit.id).map { change in
        let row = SharedRow(
          key: change.key.text, stored: change.value, writer: unit.writer, number: number)
        return (key: change.key, row: row)
      }
      let isPerformed =
        writers[unit.writer] == unit.writerRow
        // The writer went on. That all rows are there as they were sent is as good.
        || (writers[unit.writer].flatMap(WriterRow.number) ?? 0 > number
          && sent.allSatisfy { rows[$0.key]?.bytes == $0.row.bytes })
      guard isPerformed else { continue }
      for (key, row) in sent {
        let revision = rows[key].flatMap { $0.bytes == row.bytes ? $0.revision : nil } ?? revision
        try setShadow(SharedRow(key: row.key, revision: revision, bytes: row.bytes), of: key)
      }
      try remove(unit.id)
    }
  }

  private func unitsThatLostTheirNumber() throws(PreferencesError) -> [LoggedUnit] {
    var units: [LoggedUnit] = []
    try connection.run(
      "SELECT id, atomic, state, tag, row FROM unit WHERE state != ? AND row != x'' ORDER BY id",
      .integer(UnitState.inFlight.number)
    ) { row throws(PreferencesError) in units.append(try unit(row)) }
    return units
  }
}
