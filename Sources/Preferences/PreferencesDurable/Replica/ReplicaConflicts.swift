internal import PreferencesCore

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

  /// Whether it is a change of this machine; the engine may have the value already.
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
  func dependents(of unit: Int64, _ key: KeyBytes? = nil) throws(PreferencesError)
    -> DependentChanges
  {
    var found = DependentChanges()
    var units: Set<Int64> = []
    var looseKeys: Set<KeyBytes> = []
    // The unit of a key from which all later ones are found.
    var first: [KeyBytes: Int64] = [:]
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
      for change in changes where next.unit < first[change.key] ?? .max {
        first[change.key] = next.unit
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
    for key in dropped.keys { try takeShared(key) }
  }

  /// Returns a key whose row this release cannot read, so that nothing can take its place.
  func unreadableKey(of dropped: DependentChanges) throws(PreferencesError) -> KeyBytes? {
    for key in dropped.keys where Self.readable(try shadow(key)) == nil { return key }
    return nil
  }

  static func unreadable(_ key: KeyBytes) -> String {
    "what the engine has of the key '\(key.text)' cannot be read by this release"
  }

  func takeShared(_ key: KeyBytes) throws(PreferencesError) {
    let row = try shadow(key)
    if let last = try lastChange(of: key) {
      try apply(last.value, for: key, conflict: true, from: row?.writer)
    } else if let shared = Self.readable(row) {
      try apply(shared.value, for: key, conflict: true, from: row?.writer)
    }
  }

  func remove(_ dropped: DependentChanges) throws(PreferencesError) {
    for change in dropped.changes {
      if change.unit == Self.loose {
        try removeLoose(change.key)
      } else {
        try remove(change.unit)
      }
    }
  }
}

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
