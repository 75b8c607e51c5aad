internal import Prephirences

// What is sent next. Changes go in the order in which they were made, but for what waits for
// something else; single ones that follow each other go together.
extension ReplicaTransaction {
  /// How many single changes are sent together, and how large they are together.
  private static let greatestCount = 64
  private static let greatestSize = 256 << 10

  /// A unit that waits to be sent, or a loose change.
  private struct Candidate {
    let unit: Int64
    /// The key, if it is ``loose``.
    let key: KeyBytes?
    let isAtomic: Bool
    /// The generation of its last write.
    let latest: Int64
  }

  /// Returns the units to send next, as one: a transaction, or single changes; none if all wait.
  func chooseUnits() throws(PreferencesError) -> [Int64] {
    var chosen: [Int64] = []
    var (size, hasSetAside) = (0, false)
    for candidate in try candidates() where chosen.count < Self.greatestCount {
      let changes = try changes(of: candidate.unit, only: candidate.key)
      if candidate.isAtomic {
        if try isReady(candidate.unit, changes) {
          return chosen.isEmpty ? [candidate.unit] : chosen
        }
        // It follows these: what was made later must not go with them.
        if try waits(changes, of: candidate.unit, onlyFor: chosen) { break }
        continue
      }
      size += changes.reduce(0) { $0 + Self.size($1) }
      guard chosen.isEmpty || size <= Self.greatestSize else { break }
      let unit = if let key = candidate.key { try claim(key) } else { candidate.unit }
      if try isReady(unit, changes) {
        chosen.append(unit)
      } else if candidate.key != nil {
        hasSetAside = true
      }
    }
    // There may be more of the loose ones.
    return chosen.isEmpty && hasSetAside ? try chooseUnits() : chosen
  }

  static func size(_ change: LoggedChange) -> Int {
    change.key.text.utf8.count + UnitLimit.rowHeader + (change.value?.bytes.count ?? 0)
  }

  /// Returns what waits for nothing but its turn, in the order of the last writes.
  private func candidates() throws(PreferencesError) -> [Candidate] {
    var candidates: [Candidate] = []
    try connection.run(
      """
      SELECT id, atomic, (SELECT max(latest) FROM log WHERE log.unit = unit.id) FROM unit \
      WHERE state = ?
      """, .integer(UnitState.waiting.number)
    ) { row in
      candidates.append(
        Candidate(
          unit: row.integer(0) ?? 0, key: nil, isAtomic: row.integer(1) == 1,
          latest: row.integer(2) ?? 0))
    }
    // A key that another unit has waits for that.
    try connection.run(
      """
      SELECT key, latest FROM log WHERE unit = 0 AND NOT EXISTS \
      (SELECT 1 FROM log AS earlier WHERE earlier.key = log.key AND earlier.unit > 0) \
      ORDER BY latest LIMIT \(Self.greatestCount)
      """
    ) { row throws(PreferencesError) in
      candidates.append(
        Candidate(
          unit: Self.loose, key: try OpenDatabase.key(row), isAtomic: false,
          latest: row.integer(1) ?? 0))
    }
    return candidates.sorted { one, other in
      (one.latest, one.unit) < (other.latest, other.unit)
    }
  }

  /// Whether units that are sent now are all that a unit waits for.
  private func waits(
    _ changes: [LoggedChange], of unit: Int64, onlyFor chosen: [Int64]
  ) throws(PreferencesError) -> Bool {
    var waits = false
    for change in changes {
      guard let first = try firstUnit(of: change.key), first != unit else { continue }
      guard chosen.contains(first) else { return false }
      waits = true
    }
    return waits
  }

  /// Whether a unit waits for no other one; one that would overwrite what cannot be read is set
  /// aside.
  private func isReady(
    _ unit: Int64, _ changes: [LoggedChange]
  ) throws(PreferencesError) -> Bool {
    for change in changes where try firstUnit(of: change.key) != unit { return false }
    for change in changes {
      let row = try shadow(change.key)
      guard Self.readable(row) == nil else { continue }
      let key = change.key.text
      if case .newer? = row?.form {
        try set(
          .setAside(.newerForm), of: unit,
          "a newer release, or another program, has written the key '\(key)'; "
            + "use that release here, too, or remove the row from the engine")
      } else {
        try set(
          .setAside(.damaged), of: unit,
          "what the engine has of the key '\(key)' is damaged; remove the row from the engine")
      }
      return false
    }
    return true
  }
}
