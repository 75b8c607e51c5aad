internal import Prephirences

// The triggers log each change of a shared file as a single one (unit 0). If the transaction changes
// several keys, these become a unit; a value that was unsent before must then not go with it.
extension WriteTransaction {
  /// Makes the unsent single value of a key a unit of its own.
  func keepUnsentValue(of key: KeyBytes) throws(PreferencesError) {
    guard unitsBefore[key] == nil else { return }
    var isUnsent = false
    try connection.run(
      "SELECT 1 FROM log WHERE unit = 0 AND key = ?", .bytes(key.bytes)
    ) { _ in isUnsent = true }
    guard isUnsent else {
      unitsBefore[key] = 0
      return
    }
    let unit = try makeUnit(isAtomic: false)
    try move(key, to: unit)
    unitsBefore[key] = unit
  }

  /// Makes the changes one unit if they are of several keys.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/overQuota``.
  func closeUnit() throws(PreferencesError) {
    let changed = Dictionary(changes.map { ($0.key, $0.new) }) { _, last in last }
    guard changed.count > 1 else {
      if let key = changed.keys.first { try joinUnsentValue(of: key) }
      return
    }
    let size = changed.reduce(0) { size, change in
      size + change.key.text.utf8.count + UnitLimit.rowHeader + (change.value?.bytes.count ?? 0)
    }
    guard changed.count <= UnitLimit.keys, size <= UnitLimit.bytes else {
      throw .overQuota(
        "a transaction of shared preferences can change \(UnitLimit.keys) keys and "
          + "\(UnitLimit.bytes) bytes; divide it, or set the values outside of a transaction")
    }
    let unit = try makeUnit(isAtomic: true)
    for key in changed.keys { try move(key, to: unit) }
  }

  /// Replaces the value that was unsent before, as a change without a transaction does.
  private func joinUnsentValue(of key: KeyBytes) throws(PreferencesError) {
    guard let unit = unitsBefore[key], unit != 0 else { return }
    try replaceChange(of: unit, key)
  }

  /// Drops a single change, in whose place the later one of its key is, which keeps its turn.
  func replaceChange(of unit: Int64, _ key: KeyBytes) throws(PreferencesError) {
    try connection.run(
      """
      UPDATE log SET (generation, since) = (SELECT generation, since FROM log AS earlier \
      WHERE earlier.unit = ? AND earlier.key = log.key) WHERE unit = 0 AND key = ?
      """, .integer(unit), .bytes(key.bytes))
    try connection.run("DELETE FROM log WHERE unit = ?", .integer(unit))
    try connection.run("DELETE FROM unit WHERE id = ?", .integer(unit))
  }

  /// Makes a unit that waits to be sent, later than all others.
  func makeUnit(isAtomic: Bool) throws(PreferencesError) -> Int64 {
    try connection.run("UPDATE sync SET units = units + 1")
    guard let unit = try connection.integer("SELECT units FROM sync") else {
      throw .damagedSharing(connection.path)
    }
    try connection.run(
      "INSERT INTO unit VALUES(?, ?, 0, x'', x'', x'')", .integer(unit), .integer(isAtomic ? 1 : 0))
    return unit
  }

  /// Moves the single change of a key into a unit.
  func move(_ key: KeyBytes, to unit: Int64) throws(PreferencesError) {
    try connection.run(
      "UPDATE log SET unit = ? WHERE unit = 0 AND key = ?", .integer(unit), .bytes(key.bytes))
  }

  private var connection: SQLiteConnection { database.connection }
}
