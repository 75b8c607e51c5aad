internal import Glibc
internal import Prephirences
internal import PrephirencesSystem
internal import SystemPackage

extension Engine {
  /// Finds out where the values are now, and opens the database if there is one.
  ///
  /// - Parameter forWriting: Whether to create the database if it is missing.
  /// - Throws: ``PreferencesError`` if it cannot be opened.
  func look(forWriting: Bool) throws(PreferencesError) {
    if case .database(let database) = source {
      try database.counter.requireOpen()
      if try isCurrent(database), database.counter.isAtItsPath { return cache.touch() }
      leave()
    }
    let stat = try file.inspect()
    guard file.isWritable else {
      guard !forWriting else { throw readOnly }
      guard let stat else { return try loadPropertyList() }
      guard stat.size > 0 else {
        try checkUnused()
        return try loadPropertyList()
      }
      return try loadSnapshot()
    }
    if stat != nil || forWriting {
      try open(forWriting: forWriting)
    } else {
      try loadPropertyList()
    }
  }

  /// Whether the file of an open database is still at its path.
  func isCurrent(_ database: OpenDatabase) throws(PreferencesError) -> Bool {
    guard let stat = try file.inspect(), stat.identity == database.identity else { return false }
    // SQLite would go on with what it has in memory.
    guard stat.size > 0 else { throw lostContents }
    return true
  }

  /// Stops using the database, whose file was removed or replaced.
  func leave() {
    guard case .database(let database) = source else { return }
    source = .left(
      LoadedValues(
        values: cache.allKnown.compactMapValues(\.value), stamps: [], isShared: database.isShared))
    cache.end()
    database.closeWithoutLock(file)
  }

  private func open(forWriting: Bool) throws(PreferencesError) {
    // A reader must not wait for a writer that was stopped.
    if !forWriting, try openReady() { return }
    if forWriting { try translated(PrivateFile.makeFolder(file.folder)) }
    let deadline = Deadline(after: file.patience)
    var counter = try GenerationCounter(path: file.lockPath)
    while try !counter.lock(deadline) {
      // Another process has replaced the file.
      counter.unlock()
      counter = try GenerationCounter(path: file.lockPath)
    }
    defer { counter.unlock() }
    let found = try file.inspect()
    if found == nil {
      guard forWriting else { return try loadPropertyList() }
      try create(counter)
    } else if found?.size == 0 {
      try checkUnused()
    }
    guard let database = try connect(counter) else { return try loadPropertyList() }
    do throws(PreferencesError) {
      if case .empty = try PreferenceSchema.check(database.connection) {
        guard forWriting else {
          database.connection.close()
          return try loadPropertyList()
        }
        try createTables(database)
      }
      try adopt(database) { state throws(PreferencesError) in try counter.set(state.generation) }
    } catch {
      database.connection.rollBack()
      database.connection.close()
      throw error
    }
  }

  /// Opens a database that has tables.
  ///
  /// - Returns: `false` if it has none.
  private func openReady() throws(PreferencesError) -> Bool {
    guard let stat = try file.inspect(), stat.size > 0 else { return false }
    guard let database = try connect(try GenerationCounter(path: file.lockPath)) else {
      return false
    }
    do throws(PreferencesError) {
      guard case .ready = try PreferenceSchema.check(database.connection) else {
        database.connection.closeKeepingLog()
        return false
      }
      try adopt(database) { state in correctCounter(database, state.generation) }
      return true
    } catch {
      database.connection.rollBack()
      database.connection.closeKeepingLog()
      throw error
    }
  }

  /// Opens a connection; `nil` if there is no file.
  private func connect(_ counter: GenerationCounter) throws(PreferencesError) -> OpenDatabase? {
    try file.checkSidecars()
    guard let identity = try file.inspect()?.identity else { return nil }
    let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
    connection.setBusyTimeout(file.patience)
    do throws(PreferencesError) {
      try PreferenceSchema.protect(connection)
    } catch {
      connection.close()
      throw error
    }
    return OpenDatabase(connection, counter, identity, isOnNetwork: file.isOnNetwork)
  }

  /// Uses an open database from now on.
  private func adopt(
    _ database: OpenDatabase,
    correctingCounter correct: (OpenDatabase.State) throws(PreferencesError) -> Void
  ) throws(PreferencesError) {
    try PreferenceSchema.requireDurability(database.connection, onNetwork: file.isOnNetwork)
    let before = source
    var values: [KeyBytes: StoredValue] = [:]
    // One transaction, so that the values are those of the generation.
    try database.connection.run("BEGIN")
    defer { database.connection.rollBack() }
    let state = try database.state()
    let isObserved = !observers.isEmpty && isKnown(before)
    if isObserved { try database.forEach { key, stored in values[key] = stored } }
    try database.connection.run("COMMIT")
    // Now SQLite has opened them. They are this database's if it is still at its path.
    let logFiles = try? file.logFiles()
    if try file.inspect()?.identity == database.identity { database.logFiles = logFiles }
    try correct(state)
    source = .database(database)
    hasTriedToImport = false
    cache.begin(file.isOnNetwork ? nil : database.counter, generation: state.generation)
    guard isObserved else { return }
    // They are the old values of the next changes.
    let known = values.compactMapValues(ValueDecoder.decode)
    for (key, value) in known {
      cache.insert(.value(value), for: key, size: values[key]?.bytes.count ?? 0)
    }
    postChanges(from: before, to: known)
  }

  private func isKnown(_ source: Source) -> Bool {
    switch source {
    case .propertyList, .snapshot, .left: true
    case .unknown, .database: false
    }
  }

  /// Creates an empty file.
  private func create(_ counter: GenerationCounter) throws(PreferencesError) {
    // A file without contents, and a counter that was set, is a damaged file.
    try counter.clear()
    // Those of a database that was removed belong to processes that still use it.
    for path in [file.logPath, file.sharedMemoryPath, file.journalPath] { unsafe unlink(path) }
    do throws(Errno) {
      try PrivateFile.makeEmpty(file.path)
    } catch {
      guard error == .fileExists else { throw PreferencesError(.failed(error, "make", file.path)) }
    }
    try translated(PrivateFile.syncFolder(file.folder))
  }

  /// Refuses a file that is empty although it had contents; the first writer may have found no room.
  private func checkUnused() throws(PreferencesError) {
    for path in [file.lockPath, file.logPath] {
      guard let stat = try translated(PrivateFile.look(path)) else { continue }
      guard stat.size == 0 else { throw lostContents }
    }
  }

  var readOnly: PreferencesError {
    PreferencesError(
      .readOnly,
      "the preferences cannot be changed here; make the file and its folder writable: "
        + file.path)
  }

  private var lostContents: PreferencesError {
    PreferencesError(
      .damaged, "the file has lost its contents; restore a copy, or remove the file: \(file.path)")
  }

  /// Creates the tables by a rollback journal, so that they are on the disk before there is a log.
  private func createTables(_ database: OpenDatabase) throws(PreferencesError) {
    let connection = database.connection
    try connection.run("PRAGMA synchronous = FULL")
    try connection.run("BEGIN IMMEDIATE")
    try PreferenceSchema.create(connection)
    hasTriedToImport = false
    try importPropertyList(
      into: WriteTransaction(database, generation: 1, isObserved: false))
    try connection.run("COMMIT")
  }

  /// Reports what differs from the values that were visible before.
  func postChanges(from source: Source, to values: [KeyBytes: Any]) {
    guard !observers.isEmpty else { return }
    var removed: [KeyBytes: Any]
    switch source {
    case .propertyList(let loaded), .snapshot(let loaded), .left(let loaded):
      removed = loaded.values
    case .unknown, .database: return
    }
    var changes = values.map { key, value in
      PreferenceChange(key.text, from: removed.removeValue(forKey: key), to: value)
    }
    changes += removed.map { PreferenceChange($0.text, from: $1, to: nil) }
    post(changes)
  }
}
