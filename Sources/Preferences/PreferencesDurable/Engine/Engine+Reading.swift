internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem
internal import SystemPackage

extension Engine {
  /// Returns the value of a key.
  func fetch(_ text: PreferenceKey) throws -> PreferenceValue? {
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

  /// Returns all readable keys with their values.
  func fetchReadable() throws -> ReadablePairs {
    do {
      return try fetchPresent()
    } catch let error as PreferencesError where error.code == .rolledBack {
      // The remaining values are shown to the person who decides.
      var left = try locked { try closedContents(of: writableConnection()).contents }
      left.otherKeysFailure = error
      return left
    }
  }

  private func writableConnection() throws -> SQLiteConnection {
    try file.checkSidecars()
    return try SQLiteConnection(path: file.path, mode: .readWrite)
  }

  private func fetchPresent() throws -> ReadablePairs {
    try locked {
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

  /// Whether there is no database and no value to remove, so that none must be created.
  func isWithout(_ keys: [KeyBytes]?) throws -> Bool {
    guard ownTransaction == nil, cache.generation == 0 else { return false }
    return try locked {
      try look(forWriting: false)
      guard case .propertyList(let loaded) = source else { return false }
      return keys.map { $0.allSatisfy { loaded.values[$0] == nil } } ?? loaded.values.isEmpty
    }
  }

  /// Reads all values into the cache, unless there are too many.
  func fetchAllIntoCache() throws {
    try locked {
      guard ownTransaction == nil else { return }
      try look(forWriting: false)
      guard case .database(let database) = source else { return }
      try read(database) {
        guard try database.count() <= ReadCache.greatestCount / 2 else { return }
        try database.forEach { key, stored in
          guard let value = stored.decoded else { return }
          cache.insert(.value(value), for: key, size: stored.bytes.count)
        }
      }
    }
  }

  /// Opens the database if there is one, and learns the changes of others.
  ///
  /// It checks the path first, because the counter of a replaced file does not change any more.
  func refresh() throws {
    try locked {
      guard ownTransaction == nil else { return }
      try look(forWriting: false)
      guard !cache.isCurrent, case .database(let database) = source else { return }
      try read(database) {}
    }
  }

  /// Reads within one transaction, after the cache has learned the changes of others.
  func read<Result>(_ database: OpenDatabase, _ body: () throws -> Result) throws -> Result {
    try database.connection.run("BEGIN")
    defer { database.connection.rollBack() }
    let state = try database.latestState()
    try advance(to: state, database)
    let result = try body()
    try database.connection.run("COMMIT")
    correctCounter(database, state.generation)
    return result
  }

  /// Brings the cache to the database's generation, and posts the changes of others.
  func advance(to state: OpenDatabase.State, _ database: OpenDatabase) throws {
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
    _ key: KeyBytes, from old: KnownValue?, to new: PreferenceValue?
  ) -> PreferenceChange {
    guard let old else { return PreferenceChange(key.text, to: new?.object) }
    return PreferenceChange(key.text, from: old.value?.object, to: new?.object)
  }

  /// Forgets all values, because the changes are unknown.
  private func renew(_ state: OpenDatabase.State, _ database: OpenDatabase) throws {
    defer { cache.advance(to: state.generation, nil, keepsNew: false) }
    guard !observers.isEmpty else { return }
    var posted: [PreferenceChange] = []
    var missing = cache.allKnown
    try database.forEach { key, stored in
      let old = missing.removeValue(forKey: key)
      guard let value = stored.decoded else {
        return noteDamage(of: key)
      }
      posted.append(change(key, from: old, to: value))
    }
    posted += missing.compactMap { key, old in
      old.value.map { PreferenceChange(key.text, from: $0.object, to: nil) }
    }
    post(posted)
  }

  /// Corrects the counter if it differs from the database's generation, because a writer was killed
  /// or somebody else changed the file.
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

extension Engine {
  /// Reads the values saved by `UserDefaults`, unless they were read already.
  func loadPropertyList() throws {
    let stamps = [FileStamp(file.propertyListPath)]
    if case .propertyList(let loaded) = source, loaded.stamps == stamps { return }
    var loaded = LoadedValues(values: [:], stamps: stamps)
    loaded.values = try propertyListValues()
    let before = source
    source = .propertyList(loaded)
    cache.end()
    postChanges(from: before, to: loaded.values)
  }

  private func propertyListValues() throws -> [KeyBytes: PreferenceValue] {
    guard let stat = try translated(PrivateFile.look(file.propertyListPath)) else { return [:] }
    // Others may be able to read it, but not to write it.
    try translated(PrivateFile.check(stat, file.propertyListPath, forbidden: 0o022))
    let values = try PropertyListFile(path: file.propertyListPath).read().values
    return [KeyBytes: PreferenceValue](values.map { (KeyBytes($0), $1) }) { _, last in last }
  }

  /// Imports the values of the property list whose keys have no value yet.
  ///
  /// If the list is damaged, the preferences can be used, and the next opening tries again.
  func importPropertyList(into transaction: WriteTransaction) throws {
    guard !hasTriedToImport else { return transaction.importFailure = importFailure }
    hasTriedToImport = true
    let values: [KeyBytes: PreferenceValue]
    do {
      values = try valuesToImport()
      importFailure = nil
    } catch {
      importFailure = .any(error)
      return transaction.importFailure = importFailure
    }
    for (key, value) in values { try transaction.insert(value.encoded, for: key) }
    try transaction.setImported()
  }

  /// Returns the values of the property list, all of which can be stored.
  private func valuesToImport() throws -> [KeyBytes: PreferenceValue] {
    do {
      return try propertyListValues()
    } catch {
      let error = PreferencesError.any(error)
      throw PreferencesError(
        error.code,
        "the values of UserDefaults were not imported, and are tried again later: \(error.message)",
        systemCode: error.systemCode)
    }
  }

  /// Returns the value that a key without a row will get from the property list, or `nil`.
  func valueToImport(_ key: KeyBytes, into database: OpenDatabase) throws -> PreferenceValue? {
    guard !database.isImported, try !database.hasRow(key) else { return nil }
    return try valuesToImport()[key]
  }

  /// Returns all values of a database, with those of a property list that is not imported yet.
  func contents(of connection: SQLiteConnection) throws -> ReadablePairs {
    var contents = try OpenDatabase.contents(of: connection)
    guard try connection.integer("SELECT imported FROM state") == 0 else { return contents }
    do {
      var values = try valuesToImport()
      try OpenDatabase.forEachKey(of: connection) { values[$0] = nil }
      contents.pairs += values.map { ($0.text, $1) }
    } catch {
      contents.otherKeysFailure = .any(error)
    }
    return contents
  }

  /// Reads all values of a database that cannot be changed here, unless they were read already.
  func loadSnapshot() throws {
    let stamps = [file.path, file.logPath, file.propertyListPath].map { FileStamp($0) }
    if case .snapshot(let loaded) = source, loaded.stamps == stamps { return }
    let (contents, isShared) = try snapshotContents()
    let values = contents.pairs.map { (KeyBytes($0.key), $0.value) }
    let unreadable = contents.unreadable.map { (KeyBytes($0.key), $0.failure) }
    source = .snapshot(
      LoadedValues(
        values: Dictionary(values) { $1 }, stamps: stamps,
        unreadable: Dictionary(unreadable) { $1 }, isShared: isShared,
        otherKeysFailure: contents.otherKeysFailure))
    cache.end()
  }

  private func snapshotContents() throws -> (ReadablePairs, isShared: Bool) {
    try file.checkSidecars()
    for _ in 0..<5 {
      let stamps = [file.path, file.logPath].map { FileStamp($0) }
      let found = Result { try presentSnapshotContents() }
      // Without a lock, the values are from one time only if nobody has changed the files.
      if [file.path, file.logPath].map({ FileStamp($0) }) == stamps { return try found.get() }
    }
    throw PreferencesError(
      .conflict, "the file changed while it was read, again and again; try again: \(file.path)")
  }

  private func presentSnapshotContents() throws -> (ReadablePairs, isShared: Bool) {
    let record = file.isOnNetwork ? nil : GenerationCounter.record(at: file.lockPath)
    let log = try translated(PrivateFile.look(file.logPath))
    var snapshot: Snapshot
    if log?.size ?? 0 == 0 {
      snapshot = try closedContents(of: SQLiteConnection(path: file.path, mode: .immutable))
    } else {
      let copy = try SnapshotCopy(of: file)
      snapshot = try closedContents(of: SQLiteConnection(path: copy.path, mode: .readWrite))
    }
    if let least = record?.least, snapshot.generation < least {
      snapshot.contents.otherKeysFailure = .rolledBack(
        to: snapshot.generation, from: least, file.path)
    }
    return (snapshot.contents, snapshot.isShared)
  }

  private struct Snapshot {
    var contents = ReadablePairs()
    var isShared = false
    var generation: Int64 = .max
  }

  /// Returns all values, and closes the connection.
  private func closedContents(of connection: SQLiteConnection) throws -> Snapshot {
    defer { connection.close() }
    try PreferenceSchema.protect(connection)
    guard case .ready(let isShared) = try checkedTables(connection) else {
      return Snapshot()
    }
    return Snapshot(
      contents: try contents(of: connection), isShared: isShared,
      generation: try connection.integer("SELECT generation FROM state") ?? .max)
  }
}
