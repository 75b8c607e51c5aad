internal import Prephirences

extension ReplicaTransaction {
  /// How many single changes are sent together, and how large they are together.
  private static let greatestCount = 64
  private static let greatestSize = 256 << 10

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
    // In turn, so that neither kind waits for ever.
    var chosen = sync.number.isMultiple(of: 2) ? try nextTransaction() : try nextSingleChanges()
    if chosen.isEmpty {
      chosen = sync.number.isMultiple(of: 2) ? try nextSingleChanges() : try nextTransaction()
    }
    guard !chosen.isEmpty else { return }
    sync.number += 1
    sync.nonce = WriterTag.random().bytes
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

  private func nextTransaction() throws(PreferencesError) -> [Int64] {
    for unit in try units(in: .waiting) where unit.isAtomic {
      if try isReady(unit.id, changes(of: unit.id)) { return [unit.id] }
    }
    return []
  }

  private func nextSingleChanges() throws(PreferencesError) -> [Int64] {
    var chosen: [Int64] = []
    var size = 0
    for unit in try units(in: .waiting) where !unit.isAtomic && chosen.count < Self.greatestCount {
      let changes = try changes(of: unit.id)
      let added = changes.reduce(0) { $0 + Self.size($1) }
      guard chosen.isEmpty || size + added <= Self.greatestSize else { continue }
      guard try isReady(unit.id, changes) else { continue }
      chosen.append(unit.id)
      size += added
    }
    for key in try looseKeys(limit: Self.greatestCount - chosen.count) {
      let changes = try changes(of: Self.loose, only: key)
      let added = changes.reduce(0) { $0 + Self.size($1) }
      guard chosen.isEmpty || size + added <= Self.greatestSize else { break }
      let unit = try claim(key)
      guard try isReady(unit, changes) else { continue }
      chosen.append(unit)
      size += added
    }
    return chosen
  }

  private static func size(_ change: LoggedChange) -> Int {
    change.key.text.utf8.count + UnitLimit.rowHeader + (change.value?.bytes.count ?? 0)
  }

  /// Returns keys of loose changes that wait for no unit.
  private func looseKeys(limit: Int) throws(PreferencesError) -> [KeyBytes] {
    var keys: [KeyBytes] = []
    try connection.run(
      """
      SELECT key FROM log WHERE unit = 0 AND NOT EXISTS \
      (SELECT 1 FROM log AS earlier WHERE earlier.key = log.key AND earlier.unit > 0) LIMIT ?
      """, .integer(Int64(limit))
    ) { row throws(PreferencesError) in keys.append(try OpenDatabase.key(row)) }
    return keys
  }

  /// Whether a unit waits for no other one; one that would overwrite what is newer is set aside.
  private func isReady(
    _ unit: Int64, _ changes: [LoggedChange]
  ) throws(PreferencesError) -> Bool {
    for change in changes where try firstUnit(of: change.key) != unit { return false }
    for change in changes where Self.readable(try shadow(change.key)) == nil {
      try set(
        .setAside(.newerForm), of: unit,
        "a newer release has written the key '\(change.key.text)'; use that release here, too")
      return false
    }
    return true
  }
}
