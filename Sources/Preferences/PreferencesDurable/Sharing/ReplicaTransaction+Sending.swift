internal import Prephirences

extension ReplicaTransaction {
  /// Returns the unit that was numbered and is not settled.
  func numberedUnit() throws(PreferencesError) -> SharedUnit? {
    let units = try units(in: .inFlight)
    guard !units.isEmpty else { return nil }
    var sent: [SharedUnit.Change] = []
    for unit in units {
      for change in try changes(of: unit.id) {
        let row = SharedRow(
          key: change.key.text, stored: change.value, writer: sync.writer, number: sync.number)
        let base = try shadow(change.key).map { SharedUnit.Base.row($0) } ?? .absent
        sent.append(SharedUnit.Change(row: row, base: base))
      }
    }
    return SharedUnit(
      writer: sync.writer, number: sync.number, changes: sent, oldWriterRow: sync.writerRow,
      newWriterRow: sync.newWriterRow, isTransaction: units.contains { $0.isAtomic })
  }

  /// Gives the next unit a number.
  func numberNextUnit() throws(PreferencesError) {
    // Without a shadow, nothing has a base.
    guard sync.identity != nil, sync.revision > 0 else { return }
    try dropReplacedChanges()
    let chosen = try chooseUnits()
    guard !chosen.isEmpty else { return }
    sync.number += 1
    sync.nonce = WriterRow.newNonce()
    for unit in chosen {
      try connection.run(
        "UPDATE unit SET state = 1, tag = ?, row = ?, message = x'' WHERE id = ?",
        .bytes(sync.writer.bytes), .bytes(sync.newWriterRow), .integer(unit))
    }
  }

  /// Drops single changes that wait although a later one would replace them.
  private func dropReplacedChanges() throws(PreferencesError) {
    var replaced: [(unit: Int64, key: KeyBytes)] = []
    try connection.run(
      """
      SELECT log.unit, log.key FROM unit JOIN log ON log.unit = unit.id \
      WHERE unit.atomic = 0 AND unit.state NOT IN (1, 2) \
      AND EXISTS (SELECT 1 FROM log AS last WHERE last.unit = 0 AND last.key = log.key) \
      AND NOT EXISTS (SELECT 1 FROM log AS later WHERE later.key = log.key \
      AND later.unit > log.unit AND later.unit > 0)
      """
    ) { row throws(PreferencesError) in
      replaced.append((row.integer(0) ?? 0, try OpenDatabase.key(row, 1)))
    }
    for (unit, key) in replaced { try write.replaceChange(of: unit, key) }
  }
}
