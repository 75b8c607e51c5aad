internal import Prephirences
internal import PrephirencesSystem

extension Engine {
  /// Returns the value of a key.
  func fetch(_ text: PreferenceKey) throws -> Any? {
    try ForkGuard.check()
    let key = KeyBytes(text)
    if let transaction = ownTransaction { return try transaction.value(key) }
    if let known = cache.value(key) { return known.value }
    return try locked {
      try look(forWriting: false)
      switch source {
      case .database(let database):
        return try read(database) {
          let stored = try database.stored(key)
          if stored == nil, let value = try valueToImport(key, into: database) { return value }
          let value = try stored?.decoded(forKey: key)
          cache.insert(KnownValue(value), for: key, size: stored?.bytes.count ?? 0)
          return value
        }
      case .propertyList(let loaded), .snapshot(let loaded), .left(let loaded):
        return try loaded.value(key)
      case .unknown: return nil
      }
    }
  }

  /// Returns all keys with their values that can be read.
  func fetchReadable() throws -> ReadablePairs {
    try ForkGuard.check()
    return try locked {
      if let transaction = ownTransaction {
        return try contents(of: transaction.database.connection)
      }
      try look(forWriting: false)
      switch source {
      case .database(let database):
        return try read(database) { try contents(of: database.connection) }
      case .propertyList(let loaded), .snapshot(let loaded), .left(let loaded):
        return loaded.contents
      case .unknown: return ReadablePairs()
      }
    }
  }

  /// Whether there is no database, and no value to remove, so that none must be created.
  func isWithout(_ keys: [KeyBytes]?) throws -> Bool {
    guard ownTransaction == nil, cache.generation == 0 else { return false }
    return try locked {
      try look(forWriting: false)
      guard case .propertyList(let loaded) = source else { return false }
      return keys.map { $0.allSatisfy { loaded.values[$0] == nil } } ?? loaded.values.isEmpty
    }
  }

  /// Reads all values into the cache, unless they are too many.
  func fetchAllIntoCache() throws {
    try locked {
      guard ownTransaction == nil else { return }
      try look(forWriting: false)
      guard case .database(let database) = source else { return }
      try read(database) {
        guard try database.count() <= ReadCache.greatestCount / 2 else { return }
        try database.forEach { key, stored in
          guard let value = ValueDecoder.decode(stored) else { return }
          cache.insert(.value(value), for: key, size: stored.bytes.count)
        }
      }
    }
  }

  /// Opens the database if there is one, and learns what others have changed.
  ///
  /// It looks at the path first: the counter of a file that was replaced does not change any more.
  func refresh() throws {
    try locked {
      guard ownTransaction == nil else { return }
      try look(forWriting: false)
      guard !cache.isCurrent, case .database(let database) = source else { return }
      try read(database) {}
    }
  }

  /// Reads within one transaction, after the cache has got what others have changed.
  func read<Result>(_ database: OpenDatabase, _ body: () throws -> Result) throws -> Result {
    try database.connection.run("BEGIN")
    defer { database.connection.rollBack() }
    let state = try database.state()
    try advance(to: state, database)
    let result = try body()
    try database.connection.run("COMMIT")
    correctCounter(database, state.generation)
    return result
  }

  /// Brings the cache to the database's generation, and posts what others have changed.
  func advance(to state: OpenDatabase.State, _ database: OpenDatabase) throws(PreferencesError) {
    let known = cache.generation
    guard state.generation != known else { return }
    postSignal()
    guard known <= state.generation, state.floor <= known else {
      return try renew(state, database)
    }
    let isObserved = !observers.isEmpty
    let rows = try database.changes(since: known, limit: isObserved ? .max - 1 : 10_000)
    guard let rows else { return cache.advance(to: state.generation, nil, keepsNew: false) }
    let changes = rows.map { key, stored in CachedChange(key: key, stored: stored) }
    var posted: [PreferenceChange] = []
    for changed in changes where isObserved {
      guard let known = changed.value else {
        noteDamage(of: changed.key)
        continue
      }
      posted.append(change(changed.key, from: cache.lastKnown(changed.key), to: known.value))
    }
    cache.advance(to: state.generation, changes, keepsNew: isObserved)
    post(posted)
  }

  private func noteDamage(of key: KeyBytes) {
    let failure = PreferencesError.damagedValue(key.text)
    if !damage.contains(failure) { damage.append(failure) }
  }

  private func change(
    _ key: KeyBytes, from old: KnownValue?, to new: Any?
  ) -> PreferenceChange {
    guard let old else { return PreferenceChange(key.text, to: new) }
    return PreferenceChange(key.text, from: old.value, to: new)
  }

  /// Forgets all values, since it is not known what has changed.
  private func renew(
    _ state: OpenDatabase.State, _ database: OpenDatabase
  ) throws(PreferencesError) {
    defer { cache.advance(to: state.generation, nil, keepsNew: false) }
    guard !observers.isEmpty else { return }
    var posted: [PreferenceChange] = []
    var missing = cache.allKnown
    try database.forEach { key, stored in
      let old = missing.removeValue(forKey: key)
      guard let value = ValueDecoder.decode(stored) else {
        return noteDamage(of: key)
      }
      posted.append(change(key, from: old, to: value))
    }
    posted += missing.compactMap { key, old in
      old.value.map { PreferenceChange(key.text, from: $0, to: nil) }
    }
    post(posted)
  }

  /// Corrects the counter if it has not the database's generation, because a writer was killed or
  /// somebody else changed the file.
  func correctCounter(_ database: OpenDatabase, _ generation: Int64) {
    guard !database.isOnNetwork, database.counter.generation != generation,
      (try? database.counter.tryLock()) == true
    else { return }
    defer { database.counter.unlock() }
    // Read again: a writer may have committed before the lock was free.
    guard let state = try? database.state() else { return }
    try? database.counter.set(state.generation)
  }
}
