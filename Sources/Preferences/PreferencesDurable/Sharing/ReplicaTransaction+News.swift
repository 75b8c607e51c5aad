internal import Prephirences

/// A key of which the engine has another row than the shadow had.
struct News {
  let key: KeyBytes
  /// The row; `nil` is none.
  let row: SharedRow?
  /// Whether unsent changes were made in knowledge of the row.
  var isOlder = false
  /// Whether the row is gone without a removal, which changes no value.
  var isLost = false
}

// All rows of a revision, or of a snapshot, are taken into the shadow before any of them is met: what
// becomes of a transaction depends on all its keys.
extension ReplicaTransaction {
  // MARK: - The shadow

  /// The engine has another row of a key than the shadow; `nil` is none.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - key: The key.
  ///   - isOlder: Whether unsent changes were made in knowledge of it.
  /// - Returns: What ``meet(_:)`` must be given.
  /// - Throws: ``PreferencesError``.
  func take(
    _ row: SharedRow?, of key: KeyBytes, isOlder: Bool = false
  ) throws(PreferencesError) -> News {
    try setShadow(row, of: key)
    try recallUnit(of: key)
    return News(key: key, row: row, isOlder: isOlder)
  }

  /// A row is no longer there, and nothing says that the key was removed: the value is sent again.
  func lose(_ known: SharedRow, _ key: KeyBytes) throws(PreferencesError) -> News {
    try setShadow(nil, of: key)
    try recallUnit(of: key)
    switch try firstUnit(of: key) {
    case nil: if let own = try ownValue(of: key, like: known) { try log(own, for: key) }
    case Self.loose: break
    case .some: if case .value(let value?) = known.form { try logFirst(value, for: key) }
    }
    return News(key: key, row: nil, isLost: true)
  }

  /// What was numbered cannot be performed any more, if the first unsent change of a key was.
  private func recallUnit(of key: KeyBytes) throws(PreferencesError) {
    guard let first = try firstUnit(of: key), first != Self.loose,
      try unit(first).state == .inFlight
    else { return }
    try recall()
  }

  /// Returns the value that this file has; if that is damaged, what the engine had.
  private func ownValue(
    of key: KeyBytes, like known: SharedRow
  ) throws(PreferencesError) -> StoredValue? {
    do throws(PreferencesError) {
      return try write.database.stored(key)
    } catch {
      guard error.code == .damaged else { throw error }
      guard case .value(let stored) = known.form else { return nil }
      return stored
    }
  }

  // MARK: - The values

  /// Changes the values of keys as the engine has them, or finds conflicts.
  func meet(_ news: [News]) throws(PreferencesError) {
    guard !news.isEmpty else { return }
    try placeLostValues()
    for one in news where !one.isLost { try meet(one) }
    guard !sync.settings.programDecides else { return }
    // What could not be read may be readable now, or gone.
    for unit in try units(in: .conflict).map(\.id) where try !changes(of: unit).isEmpty {
      try decideByOrder(unit)
    }
  }

  private func meet(_ news: News) throws(PreferencesError) {
    // What cannot be read stays as it is, here as well.
    guard let shared = Self.readable(news.row) else { return }
    guard let first = try firstUnit(of: news.key) else {
      return try apply(shared.value, for: news.key, conflict: false, from: news.row?.writer)
    }
    guard !news.isOlder else { return }
    if try isShared(first, news.key) {
      return try first == Self.loose ? removeLoose(news.key) : remove(first)
    }
    guard sync.settings.programDecides else { return try decideByOrder(first, news.key) }
    try set(.conflict, of: first == Self.loose ? try claim(news.key) : first)
    write.wakesOthers = true
  }

  /// Whether the engine has all values of a unit, from whomever, and nothing is unsent below it.
  private func isShared(_ unit: Int64, _ key: KeyBytes) throws(PreferencesError) -> Bool {
    for change in try changes(of: unit, only: unit == Self.loose ? key : nil) {
      guard try firstUnit(of: change.key) == unit else { return false }
      guard let shared = Self.readable(try shadow(change.key)), shared.value == change.value
      else { return false }
    }
    return true
  }

  /// What the engine has takes the place of a unit, and of all that is based on it.
  ///
  /// - Parameters:
  ///   - unit: The unit.
  ///   - key: The key, if the unit is ``loose``.
  /// - Throws: ``PreferencesError``.
  func decideByOrder(_ unit: Int64, _ key: KeyBytes? = nil) throws(PreferencesError) {
    let dropped = try dependents(of: unit, key)
    guard let unreadable = try unreadableKey(of: dropped) else { return try takeShared(dropped) }
    // Otherwise a part of a transaction would stay.
    let unit = if unit == Self.loose, let key { try claim(key) } else { unit }
    guard try self.unit(unit).state != .conflict else { return }
    try set(.conflict, of: unit, Self.unreadable(unreadable))
    write.wakesOthers = true
  }
}
