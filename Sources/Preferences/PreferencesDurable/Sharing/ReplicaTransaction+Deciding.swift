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
