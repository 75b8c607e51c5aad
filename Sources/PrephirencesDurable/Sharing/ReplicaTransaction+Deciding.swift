internal import Prephirences

/// Changes that are rejected together: those of a unit, and of all units that are based on it.
struct DependentChanges {
  /// In no order; a key may have several.
  var changes: [LoggedChange] = []
  var isTransaction = false

  /// The keys, in the order in which they were found.
  var keys: [KeyBytes] {
    var seen: Set<KeyBytes> = []
    return changes.compactMap { seen.insert($0.key).inserted ? $0.key : nil }
  }
}

extension ReplicaTransaction {
  /// Returns the changes of a unit, and of all that are based on it.
  ///
  /// - Parameters:
  ///   - unit: The unit.
  ///   - key: The key, if the unit is ``loose``.
  /// - Returns: The changes.
  /// - Throws: ``PreferencesError``.
  func dependents(of unit: Int64, _ key: KeyBytes? = nil) throws(PreferencesError)
    -> DependentChanges
  {
    var found = DependentChanges()
    var units: Set<Int64> = []
    var looseKeys: Set<KeyBytes> = []
    var pending: [(unit: Int64, key: KeyBytes?)] = [(unit, key)]
    while let next = pending.popLast() {
      if next.unit == Self.loose {
        guard let key = next.key, looseKeys.insert(key).inserted else { continue }
        found.changes += try changes(of: Self.loose, only: key)
        continue
      }
      guard units.insert(next.unit).inserted else { continue }
      if try self.unit(next.unit).isAtomic { found.isTransaction = true }
      let changes = try changes(of: next.unit)
      found.changes += changes
      for change in changes {
        pending += try laterUnits(of: change.key, than: next.unit).map { ($0, change.key) }
        if try isLoose(change.key) { pending.append((Self.loose, change.key)) }
      }
    }
    return found
  }

  private func laterUnits(
    of key: KeyBytes, than unit: Int64
  ) throws(PreferencesError) -> [Int64] {
    var units: [Int64] = []
    try connection.run(
      "SELECT unit FROM log WHERE key = ? AND unit > ? AND unit > 0", .bytes(key.bytes),
      .integer(unit)
    ) { row in if let unit = row.integer(0) { units.append(unit) } }
    return units
  }

  /// Drops changes: their keys get what the engine has, or what was unsent before them.
  func takeShared(_ dropped: DependentChanges) throws(PreferencesError) {
    try remove(dropped)
    for key in dropped.keys {
      let row = try shadow(key)
      if let last = try lastChange(of: key) {
        try apply(last.value, for: key, conflict: true, from: row?.writer)
      } else if let shared = Self.readable(row) {
        try apply(shared.value, for: key, conflict: true, from: row?.writer)
      }
    }
  }

  private func remove(_ dropped: DependentChanges) throws(PreferencesError) {
    for change in dropped.changes {
      if change.unit == Self.loose {
        try removeLoose(change.key)
      } else {
        try remove(change.unit)
      }
    }
  }

  // MARK: - Decisions of programs

  /// A unit that waits for a decision, with what is based on it.
  struct Conflict {
    let unit: LoggedUnit
    let message: String
    let dependents: DependentChanges
    let local: [KeyBytes: StoredValue]
    let shared: [KeyBytes: SharedRow]
  }

  /// Returns the units that wait for a decision, but those that are based on others of them.
  func conflicts() throws(PreferencesError) -> [Conflict] {
    var covered: Set<Int64> = []
    var conflicts: [Conflict] = []
    for unit in try units(in: .conflict) where !covered.contains(unit.id) {
      let dependents = try dependents(of: unit.id)
      for change in dependents.changes { covered.insert(change.unit) }
      conflicts.append(try conflict(unit, dependents))
    }
    return conflicts
  }

  private func conflict(
    _ unit: LoggedUnit, _ dependents: DependentChanges
  ) throws(PreferencesError) -> Conflict {
    var message = ""
    try connection.run("SELECT message FROM unit WHERE id = ?", .integer(unit.id)) { row in
      message = String(decoding: row.bytes(0), as: UTF8.self)
    }
    var local: [KeyBytes: StoredValue] = [:]
    var shared: [KeyBytes: SharedRow] = [:]
    for key in dependents.keys {
      local[key] = try write.database.stored(key)
      shared[key] = try shadow(key)
    }
    return Conflict(
      unit: unit, message: message, dependents: dependents, local: local, shared: shared)
  }

  /// The changes go on, based on what the engine has now.
  func keepLocal(_ conflict: Conflict) throws(PreferencesError) {
    try set(.waiting, of: conflict.unit.id)
  }

  /// The changes are replaced by a decision's.
  func decide(_ conflict: Conflict, _ values: [KeyBytes: StoredValue?]) throws(PreferencesError) {
    try remove(conflict.dependents)
    let keys = Set(conflict.dependents.keys).union(values.keys)
    for key in keys {
      let row = try shadow(key)
      let last = try lastChange(of: key)
      guard let decided = values[key] else {
        if let last {
          try apply(last.value, for: key, conflict: true, from: row?.writer)
        } else if let shared = Self.readable(row) {
          try apply(shared.value, for: key, conflict: true, from: row?.writer)
        }
        continue
      }
      try apply(decided, for: key, conflict: true, from: nil)
      // A value that the engine has already need not be sent.
      if last == nil, let shared = Self.readable(row), shared.value == decided { continue }
      if try isLoose(key) { try removeLoose(key) }
      try log(decided, for: key)
    }
    guard conflict.dependents.isTransaction else { return }
    var logged: [KeyBytes] = []
    for key in keys where values[key] != nil {
      if try isLoose(key) { logged.append(key) }
    }
    guard logged.count > 1, logged.count <= UnitLimit.keys else { return }
    let unit = try write.makeUnit(isAtomic: true)
    for key in logged { try write.move(key, to: unit) }
  }
}
