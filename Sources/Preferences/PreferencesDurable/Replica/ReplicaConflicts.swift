internal import PreferencesCore

/// Decisions of programs.
extension ReplicaTransaction {
  /// A batch that waits for a decision, with the batches that are based on it.
  struct Conflict {
    let batch: OutboxBatch
    let message: String
    let dependents: DependentChanges
    let local: [KeyBytes: PreferenceValue.Encoded]
    let shared: [KeyBytes: SharedRow]
  }

  /// Returns the batches that wait for a decision, without those that are based on another of them.
  func conflicts(upTo last: Int64 = .max) throws -> [Conflict] {
    var covered: Set<Int64> = []
    var conflicts: [Conflict] = []
    for batch in try batches(in: .conflict) where batch.id <= last && !covered.contains(batch.id) {
      let dependents = try dependents(of: batch.id)
      for change in dependents.changes { covered.insert(change.batch) }
      conflicts.append(try conflict(batch, dependents))
    }
    return conflicts
  }

  private func conflict(_ batch: OutboxBatch, _ dependents: DependentChanges) throws -> Conflict {
    let message = try connection.first(
      "SELECT message FROM unit WHERE id = ?", .integer(batch.id)
    ) { $0.text(0) }
    var local: [KeyBytes: PreferenceValue.Encoded] = [:]
    var shared: [KeyBytes: SharedRow] = [:]
    for key in dependents.keys {
      local[key] = try write.database.stored(key)
      shared[key] = try shadow(key)
    }
    return Conflict(
      batch: batch, message: message ?? "", dependents: dependents, local: local, shared: shared)
  }

  /// Keeps the changes, based on the server's current values.
  func keepLocal(_ conflict: Conflict) throws {
    try set(.waiting, of: conflict.batch.id)
  }

  /// Replaces the changes with the server's values.
  func takeShared(_ conflict: Conflict) throws {
    try checkReadable(conflict.dependents.keys)
    try takeShared(conflict.dependents)
  }

  private func checkReadable(_ keys: some Sequence<KeyBytes>) throws {
    for key in keys where Self.readable(try shadow(key)) == nil {
      throw PreferencesError(.unsupportedFormat, Self.unreadable(key))
    }
  }

  /// Replaces the changes with those of a decision, which keep their age: waiting for the old ones
  /// waits for these.
  func decide(_ conflict: Conflict, _ values: [KeyBytes: PreferenceValue.Encoded?]) throws {
    let keys = Set(conflict.dependents.keys)
    try checkReadable(keys.filter { values[$0] == nil })
    var generation = try firstGeneration(of: conflict.dependents.changes)
    for key in values.keys {
      generation = min(generation, try firstGeneration(of: changes(of: Self.unbatched, only: key)))
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
      try addToFeed(
        key, from: old, to: decided, conflict: true, sync.writer, reason: .decision)
    }
    try SharingRules(write.database, number: write.generation).check(decided: decisions, write)
    guard conflict.dependents.isTransaction else { return }
    try makeBatch(decisions.map(\.key))
  }

  /// Returns whether the decision is a change of this machine; the server may have the value
  /// already.
  private func decide(
    _ key: KeyBytes, _ decided: PreferenceValue.Encoded?, _ generation: Int64
  ) throws -> Bool {
    let row = try shadow(key)
    let isAsShared = Self.readable(row).map { $0.value == decided } ?? false
    if isAsShared, try lastChange(of: key) == nil {
      try apply(decided, for: key, conflict: true, from: row?.writer)
      return false
    }
    _ = try write.apply(decided, for: key)
    if try isUnbatched(key) { try removeUnbatched(key) }
    try enqueue(decided, for: key, generation)
    return true
  }

  /// Makes the decided values of a transaction one transaction again.
  private func makeBatch(_ keys: [KeyBytes]) throws {
    guard keys.count > 1 else { return }
    let batch = try write.makeBatch(isAtomic: true)
    for key in keys { try write.move(key, to: batch) }
    let size = try changes(of: batch).reduce(0) { $0 + Self.size($1) }
    guard keys.count <= BatchLimit.keys, size <= BatchLimit.bytes else {
      throw PreferencesError.overQuota(
        "a decision on a transaction can set \(BatchLimit.keys) keys and \(BatchLimit.bytes) "
          + "bytes; set fewer")
    }
  }

  private func firstGeneration(of changes: [OutboxChange]) throws -> Int64 {
    var first = write.generation
    for change in changes {
      try connection.run(
        "SELECT generation FROM log WHERE unit = ? AND key = ?", .integer(change.batch),
        .bytes(change.key.bytes)
      ) { row in first = min(first, row.integer(0) ?? first) }
    }
    return first
  }
}

/// Changes that are rejected together: those of a batch, and of all batches that are based on it.
struct DependentChanges {
  /// Unordered; a key may have several.
  var changes: [OutboxChange] = []
  var isTransaction = false

  /// The keys, in the order in which they were found.
  var keys: [KeyBytes] {
    var seen: Set<KeyBytes> = []
    return changes.compactMap { seen.insert($0.key).inserted ? $0.key : nil }
  }
}

extension ReplicaTransaction {
  /// Returns the changes of a batch, and of all batches that are based on it.
  func dependents(of batch: Int64, _ key: KeyBytes? = nil) throws -> DependentChanges {
    var found = DependentChanges()
    var batches: Set<Int64> = []
    var unbatchedKeys: Set<KeyBytes> = []
    // For each key, the batch from which all later ones are dependent.
    var first: [KeyBytes: Int64] = [:]
    var pending: [(batch: Int64, key: KeyBytes?)] = [(batch, key)]
    while let next = pending.popLast() {
      if next.batch == Self.unbatched {
        guard let key = next.key, unbatchedKeys.insert(key).inserted else { continue }
        found.changes += try changes(of: Self.unbatched, only: key)
        continue
      }
      guard batches.insert(next.batch).inserted else { continue }
      if try self.batch(next.batch).isAtomic { found.isTransaction = true }
      let changes = try changes(of: next.batch)
      found.changes += changes
      for change in changes where next.batch < first[change.key] ?? .max {
        first[change.key] = next.batch
        pending += try laterBatches(of: change.key, than: next.batch).map { ($0, change.key) }
        if try isUnbatched(change.key) { pending.append((Self.unbatched, change.key)) }
      }
    }
    return found
  }

  private func laterBatches(of key: KeyBytes, than batch: Int64) throws -> [Int64] {
    try connection.all(
      "SELECT unit FROM log WHERE key = ? AND unit > ? AND unit != 0", .bytes(key.bytes),
      .integer(batch)
    ) { $0.integer(0) }
  }

  /// Drops changes: their keys get the server's values, or earlier unsent ones.
  func takeShared(_ dropped: DependentChanges) throws {
    try remove(dropped)
    for key in dropped.keys { try takeShared(key) }
  }

  /// Returns a key whose server row this release cannot read, so that nothing can replace it.
  func unreadableKey(of dropped: DependentChanges) throws -> KeyBytes? {
    for key in dropped.keys where Self.readable(try shadow(key)) == nil { return key }
    return nil
  }

  static func unreadable(_ key: KeyBytes) -> String {
    "what the engine has of the key '\(key.text)' cannot be read by this release"
  }

  func takeShared(_ key: KeyBytes) throws {
    let row = try shadow(key)
    if let last = try lastChange(of: key) {
      try apply(last.value, for: key, conflict: true, from: last.origin?.writer ?? row?.writer)
    } else if let shared = Self.readable(row) {
      try apply(shared.value, for: key, conflict: true, from: row?.writer)
    }
  }

  func remove(_ dropped: DependentChanges) throws {
    for change in dropped.changes {
      if change.batch == Self.unbatched {
        try removeUnbatched(change.key)
      } else {
        try remove(change.batch)
      }
    }
  }
}

// Chooses what is sent next. Changes are sent in the order in which they were made, except those
// that wait. Consecutive single changes are sent together.
extension ReplicaTransaction {
  /// The greatest number and size of single changes that are sent together.
  private static let greatestCount = 64
  private static let greatestSize = 256 << 10

  /// A batch that waits to be sent, or an unbatched change.
  private struct Candidate {
    let batch: Int64
    /// The key of an ``unbatched`` change.
    let key: KeyBytes?
    let isAtomic: Bool
    /// The generation of the last write.
    let latest: Int64
  }

  /// Returns the batches to send next as one: a transaction, single changes, or none if all wait.
  func chooseBatches() throws -> [Int64] {
    var chosen: [Int64] = []
    var (size, hasSetAside) = (0, false)
    for candidate in try candidates() where chosen.count < Self.greatestCount {
      let changes = try changes(of: candidate.batch, only: candidate.key)
      if candidate.isAtomic {
        if try isReady(candidate.batch, changes) {
          return chosen.isEmpty ? [candidate.batch] : chosen
        }
        // Later changes must not overtake this one.
        if try waits(changes, of: candidate.batch, onlyFor: chosen) { break }
        continue
      }
      size += changes.reduce(0) { $0 + Self.size($1) }
      guard chosen.isEmpty || size <= Self.greatestSize else { break }
      let batch = if let key = candidate.key { try claim(key) } else { candidate.batch }
      if try isReady(batch, changes) {
        chosen.append(batch)
      } else if candidate.key != nil {
        hasSetAside = true
      }
    }
    // There may be more unbatched changes.
    return chosen.isEmpty && hasSetAside ? try chooseBatches() : chosen
  }

  static func size(_ change: OutboxChange) -> Int {
    change.key.text.utf8.count + BatchLimit.rowHeader + (change.value?.bytes.count ?? 0)
  }

  /// Returns what can be sent now, in the order of the last writes.
  private func candidates() throws -> [Candidate] {
    var candidates = try connection.all(
      """
      SELECT id, atomic, (SELECT max(latest) FROM log WHERE log.unit = unit.id) FROM unit \
      WHERE state = ?
      """, .integer(BatchState.waiting.number)
    ) { row in
      Candidate(
        batch: row.integer(0) ?? 0, key: nil, isAtomic: row.integer(1) == 1,
        latest: row.integer(2) ?? 0)
    }
    // If another batch has the key, the change waits for it.
    candidates += try connection.all(
      """
      SELECT key, latest FROM log WHERE unit = 0 AND NOT EXISTS \
      (SELECT 1 FROM log AS earlier WHERE earlier.key = log.key AND earlier.unit != 0) \
      ORDER BY latest LIMIT \(Self.greatestCount)
      """
    ) { row in
      Candidate(
        batch: Self.unbatched, key: try OpenDatabase.key(row), isAtomic: false,
        latest: row.integer(1) ?? 0)
    }
    return candidates.sorted { one, other in
      (one.latest, one.batch) < (other.latest, other.batch)
    }
  }

  /// Whether a batch waits only for batches that are sent now.
  private func waits(
    _ changes: [OutboxChange], of batch: Int64, onlyFor chosen: [Int64]
  ) throws -> Bool {
    var waits = false
    for change in changes {
      guard let first = try firstBatch(of: change.key), first != batch else { continue }
      guard chosen.contains(first) else { return false }
      waits = true
    }
    return waits
  }

  /// Whether a batch waits for no other one; a batch that would overwrite an unreadable row is set
  /// aside.
  private func isReady(_ batch: Int64, _ changes: [OutboxChange]) throws -> Bool {
    for change in changes where try firstBatch(of: change.key) != batch { return false }
    for change in changes {
      let row = try shadow(change.key)
      guard Self.readable(row) == nil else { continue }
      let key = change.key.text
      if case .newer? = row?.form {
        try set(
          .setAside(.newerForm), of: batch,
          "a newer release, or another program, has written the key '\(key)'; "
            + "use that release here, too, or remove the row from the engine")
      } else {
        try set(
          .setAside(.damaged), of: batch,
          "what the engine has of the key '\(key)' is damaged; remove the row from the engine")
      }
      return false
    }
    return true
  }
}
