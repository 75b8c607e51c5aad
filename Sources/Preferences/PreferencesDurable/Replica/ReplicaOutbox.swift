internal import PreferencesCore

/// What becomes of a unit.
enum UnitState: Equatable {
  case waiting
  /// It has the last number, and may have been performed.
  case inFlight
  /// A key of it was changed elsewhere: it waits for a decision.
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

/// Changes that become visible elsewhere at once: those of a transaction, or a single one.
struct LoggedUnit {
  let id: Int64
  let isAtomic: Bool
  let state: UnitState
  /// The tag and the row of the writer with which it was numbered last; the row is empty if it was
  /// not.
  let writer: WriterTag
  let writerRow: [UInt8]
}

/// A change that the engine has not yet.
struct LoggedChange {
  let unit: Int64
  let key: KeyBytes
  let value: StoredValue?
}

extension ReplicaTransaction {
  /// The unit of changes that have none yet: single ones, each the last of its key.
  static let loose: Int64 = 0

  /// Returns the unit of the first unsent change of a key; `nil` if there is none.
  func firstUnit(of key: KeyBytes) throws(PreferencesError) -> Int64? {
    var first: Int64?
    try connection.run(
      "SELECT unit FROM log WHERE key = ? AND unit > 0 ORDER BY unit LIMIT 1", .bytes(key.bytes)
    ) { row in first = row.integer(0) }
    if let first { return first }
    return try isLoose(key) ? Self.loose : nil
  }

  func isLoose(_ key: KeyBytes) throws(PreferencesError) -> Bool {
    var isLoose = false
    try connection.run("SELECT 1 FROM log WHERE unit = 0 AND key = ?", .bytes(key.bytes)) { _ in
      isLoose = true
    }
    return isLoose
  }

  /// Returns the last unsent change of a key; `nil` if there is none.
  func lastChange(of key: KeyBytes) throws(PreferencesError) -> LoggedChange? {
    if let change = try changes(of: Self.loose, only: key).first { return change }
    var last: LoggedChange?
    try connection.run(
      """
      SELECT unit, key, kind, value FROM log WHERE key = ? AND unit > 0 \
      ORDER BY unit DESC LIMIT 1
      """, .bytes(key.bytes)
    ) { row throws(PreferencesError) in last = try Self.change(row) }
    return last
  }

  func changes(
    of unit: Int64, only key: KeyBytes? = nil
  ) throws(PreferencesError) -> [LoggedChange] {
    var changes: [LoggedChange] = []
    let columns = "SELECT unit, key, kind, value FROM log WHERE unit = ?"
    if let key {
      try connection.run(columns + " AND key = ?", .integer(unit), .bytes(key.bytes)) {
        row throws(PreferencesError) in changes.append(try Self.change(row))
      }
    } else {
      try connection.run(columns, .integer(unit)) { row throws(PreferencesError) in
        changes.append(try Self.change(row))
      }
    }
    return changes
  }

  static func change(_ row: SQLiteStatement) throws(PreferencesError) -> LoggedChange {
    LoggedChange(
      unit: row.integer(0) ?? 0, key: try OpenDatabase.key(row, 1),
      value: OpenDatabase.value(row, 2))
  }

  func units(in state: UnitState) throws(PreferencesError) -> [LoggedUnit] {
    var units: [LoggedUnit] = []
    try connection.run(
      "SELECT id, atomic, state, tag, row FROM unit WHERE state = ? ORDER BY id",
      .integer(state.number)
    ) { row throws(PreferencesError) in units.append(try unit(row)) }
    return units
  }

  func unit(_ id: Int64) throws(PreferencesError) -> LoggedUnit {
    var found: LoggedUnit?
    try connection.run(
      "SELECT id, atomic, state, tag, row FROM unit WHERE id = ?", .integer(id)
    ) { row throws(PreferencesError) in found = try unit(row) }
    guard let found else { throw .damagedSharing(connection.path) }
    return found
  }

  func unit(_ row: SQLiteStatement) throws(PreferencesError) -> LoggedUnit {
    guard let id = row.integer(0), let isAtomic = row.integer(1),
      let state = row.integer(2).flatMap(UnitState.init)
    else { throw .damagedSharing(connection.path) }
    return LoggedUnit(
      id: id, isAtomic: isAtomic == 1, state: state, writer: WriterTag(row.bytes(3)),
      writerRow: row.bytes(4))
  }

  /// Logs a value that the engine has lost, or a decided one, as an unsent single change.
  func log(
    _ value: StoredValue?, for key: KeyBytes, _ generation: Int64? = nil
  ) throws(PreferencesError) {
    try connection.run(
      "INSERT INTO log VALUES(0, ?1, ?5, ?3, ?4, \(SharingSchema.now), ?2)", .bytes(key.bytes),
      .integer(write.generation), .integer(Int64((value?.kind ?? .removed).rawValue)),
      .bytes(value?.bytes ?? []), .integer(generation ?? write.generation))
    write.wakesOthers = true
  }

  /// Logs a value that the engine has lost as the oldest unsent change, by ``placeLostValues()``.
  ///
  /// What was a transaction comes back as single changes.
  func logFirst(_ value: StoredValue?, for key: KeyBytes) throws(PreferencesError) {
    // Whatever was numbered is based on it.
    try recall()
    lostValues.append((key, value))
  }

  /// Makes a unit of each lost value, older than all others.
  func placeLostValues() throws(PreferencesError) {
    guard !lostValues.isEmpty else { return }
    let count = Int64(lostValues.count)
    // The first numbers become free; a unit's number says which one is later.
    for (table, column) in [("log", "unit"), ("unit", "id")] {
      try connection.run(
        "UPDATE \(table) SET \(column) = -\(column) - ? WHERE \(column) > 0", .integer(count))
      try connection.run("UPDATE \(table) SET \(column) = -\(column) WHERE \(column) < 0")
    }
    try connection.run("UPDATE sync SET units = units + ?", .integer(count))
    for (index, (key, value)) in lostValues.enumerated() {
      let unit = Int64(index + 1)
      try connection.run("INSERT INTO unit VALUES(?, 0, 0, x'', x'', x'')", .integer(unit))
      try connection.run(
        "INSERT INTO log VALUES(?, ?, 0, ?, ?, \(SharingSchema.now), 0)", .integer(unit),
        .bytes(key.bytes), .integer(Int64((value?.kind ?? .removed).rawValue)),
        .bytes(value?.bytes ?? []))
    }
    lostValues = []
    write.wakesOthers = true
  }

  /// Makes a loose change a unit of its own.
  func claim(_ key: KeyBytes) throws(PreferencesError) -> Int64 {
    let unit = try write.makeUnit(isAtomic: false)
    try write.move(key, to: unit)
    return unit
  }

  func set(
    _ state: UnitState, of unit: Int64, _ message: String = ""
  ) throws(PreferencesError) {
    try connection.run(
      "UPDATE unit SET state = ?, message = ? WHERE id = ?", .integer(state.number),
      .bytes(Array(message.utf8)), .integer(unit))
  }

  /// Removes a unit with its changes.
  func remove(_ unit: Int64) throws(PreferencesError) {
    try connection.run("DELETE FROM log WHERE unit = ?", .integer(unit))
    try connection.run("DELETE FROM unit WHERE id = ?", .integer(unit))
  }

  func removeLoose(_ key: KeyBytes) throws(PreferencesError) {
    try connection.run("DELETE FROM log WHERE unit = 0 AND key = ?", .bytes(key.bytes))
  }

  // MARK: - The unit that was numbered

  /// Whether a unit was numbered, and it is not known whether the engine has it.
  func isInFlight() throws(PreferencesError) -> Bool { try !units(in: .inFlight).isEmpty }

  /// The engine has the unit that was numbered last.
  func acknowledge(revision: Int64) throws(PreferencesError) {
    for unit in try units(in: .inFlight) {
      for change in try changes(of: unit.id) {
        let row = SharedRow(
          key: change.key.text, stored: change.value, writer: sync.writer, number: sync.number)
        try setShadow(
          SharedRow(key: row.key, revision: revision, bytes: row.bytes), of: change.key)
      }
      try remove(unit.id)
    }
    sync.writerRow = sync.newWriterRow
    sync.writtenRevision = revision
    try note(sync.number, of: sync.writer)
  }

  /// The engine has not the unit that was numbered last, and can never perform it.
  func recall() throws(PreferencesError) {
    try connection.run("UPDATE unit SET state = 0 WHERE state = 1")
  }
}

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

// A unit loses its number if its key is changed elsewhere, or if another file is found to write with
// this file's tag. A request that was on its way may be performed nevertheless. The number alone
// does not name a unit then: a copy of the file may have given it to another one.
extension ReplicaTransaction {
  /// Acknowledges units that the engine has performed after they lost their number.
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
