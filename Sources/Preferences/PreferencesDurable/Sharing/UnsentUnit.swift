internal import Prephirences

/// Changes that are sent together, or a loose one, as ``SharedReplica/unsent(upTo:)`` sees them.
struct UnsentUnit {
  let isInFlight: Bool

  /// Whether it waits for a decision or was set aside, or another one on which it is based.
  private(set) var waits: Bool
  private(set) var changes: [(key: KeyBytes, generation: Int64)] = []

  /// Returns all of them, each after those on which it is based.
  static func all(_ connection: SQLiteConnection) throws(PreferencesError) -> [UnsentUnit] {
    var units: [UnsentUnit] = []
    var last: Int64?
    // Loose changes are the last of their keys.
    try connection.run(
      """
      SELECT log.unit, log.key, log.generation, coalesce(unit.state, 0) FROM log \
      LEFT JOIN unit ON unit.id = log.unit ORDER BY log.unit = 0, log.unit
      """
    ) { row throws(PreferencesError) in
      let (id, state) = (row.integer(0) ?? 0, row.integer(3) ?? 0)
      if id != last || id == ReplicaTransaction.loose {
        units.append(
          UnsentUnit(
            isInFlight: state == UnitState.inFlight.number,
            waits: state >= UnitState.conflict.number))
      }
      last = id
      units[units.count - 1].changes.append((try OpenDatabase.key(row, 1), row.integer(2) ?? 0))
    }
    var waiting: Set<KeyBytes> = []
    for index in units.indices {
      let changes = units[index].changes
      guard units[index].waits || changes.contains(where: { waiting.contains($0.key) }) else {
        continue
      }
      units[index].waits = true
      waiting.formUnion(changes.map(\.key))
    }
    return units
  }
}
