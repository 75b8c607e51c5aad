internal import Prephirences

/// Decisions of programs.
extension ReplicaTransaction {
  /// A unit that waits for a decision, with what is based on it.
  struct Conflict {
    let unit: LoggedUnit
    let message: String
    let dependents: DependentChanges
    let local: [KeyBytes: StoredValue]
    let shared: [KeyBytes: SharedRow]
  }

  /// Returns the units that wait for a decision, but those that are based on others of them.
  ///
  /// - Parameter last: The unit after which nothing is looked for.
  /// - Returns: The conflicts, the oldest first.
  /// - Throws: ``PreferencesError``.
  func conflicts(upTo last: Int64 = .max) throws(PreferencesError) -> [Conflict] {
    var covered: Set<Int64> = []
    var conflicts: [Conflict] = []
    for unit in try units(in: .conflict) where unit.id <= last && !covered.contains(unit.id) {
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

  /// The engine's values take the place of the changes.
  ///
  /// - Throws: ``PreferencesError``, also if one of the values cannot be read.
  func takeShared(_ conflict: Conflict) throws(PreferencesError) {
    try checkReadable(conflict.dependents.keys)
    try takeShared(conflict.dependents)
  }

  private func checkReadable(_ keys: some Sequence<KeyBytes>) throws(PreferencesError) {
    for key in keys where Self.readable(try shadow(key)) == nil {
      throw PreferencesError(.unsupportedFormat, Self.unreadable(key))
    }
  }

  /// The changes are replaced by a decision's, which are as old as they are: who waits for them waits
  /// for these.
  ///
  /// - Throws: ``PreferencesError``, also if a program could not set these values.
  func decide(_ conflict: Conflict, _ values: [KeyBytes: StoredValue?]) throws(PreferencesError) {
    let keys = Set(conflict.dependents.keys)
    try checkReadable(keys.filter { values[$0] == nil })
    var generation = try firstGeneration(of: conflict.dependents.changes)
    for key in values.keys {
      generation = min(generation, try firstGeneration(of: changes(of: Self.loose, only: key)))
    }
    try remove(conflict.dependents)
    var decisions: [WriteTransaction.Change] = []
    for key in keys.union(values.keys) {
      guard let decided = values[key] else {
        try takeShared(key)
        continue
      }
      let old = try presentValue(of: key)
      guard try decide(key, decided, generation) else { continue }
      decisions.append(WriteTransaction.Change(key: key, old: old, new: decided))
      guard keys.contains(key), old != decided else { continue }
      try addToJournal(
        key, from: old, to: decided, conflict: true, sync.writer, reason: .decision)
    }
    try SharingRules(write.database, number: write.generation).check(decided: decisions, write)
    guard conflict.dependents.isTransaction else { return }
    try makeUnit(decisions.map(\.key))
  }

  /// - Returns: Whether it is a change of this machine; the engine may have the value already.
  private func decide(
    _ key: KeyBytes, _ decided: StoredValue?, _ generation: Int64
  ) throws(PreferencesError) -> Bool {
    let row = try shadow(key)
    let isAsShared = Self.readable(row).map { $0.value == decided } ?? false
    if isAsShared, try lastChange(of: key) == nil {
      try apply(decided, for: key, conflict: true, from: row?.writer)
      return false
    }
    _ = try write.apply(decided, for: key)
    if try isLoose(key) { try removeLoose(key) }
    try log(decided, for: key, generation)
    return true
  }

  /// The decided values of a transaction become one again.
  private func makeUnit(_ keys: [KeyBytes]) throws(PreferencesError) {
    guard keys.count > 1 else { return }
    let unit = try write.makeUnit(isAtomic: true)
    for key in keys { try write.move(key, to: unit) }
    let size = try changes(of: unit).reduce(0) { $0 + Self.size($1) }
    guard keys.count <= UnitLimit.keys, size <= UnitLimit.bytes else {
      throw .overQuota(
        "a decision on a transaction can set \(UnitLimit.keys) keys and \(UnitLimit.bytes) bytes; "
          + "set fewer")
    }
  }

  /// Returns the generation of the oldest change.
  private func firstGeneration(of changes: [LoggedChange]) throws(PreferencesError) -> Int64 {
    var first = write.generation
    for change in changes {
      try connection.run(
        "SELECT generation FROM log WHERE unit = ? AND key = ?", .integer(change.unit),
        .bytes(change.key.bytes)
      ) { row in first = min(first, row.integer(0) ?? first) }
    }
    return first
  }
}
