internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem
internal import SystemPackage

extension Engine {
  /// Finds out where the values are now, and opens the database if there is one.
  func look(forWriting: Bool) throws {
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
    guard stat != nil || forWriting else { return try loadPropertyList() }
    do {
      try open(forWriting: forWriting)
    } catch let error as PreferencesError where !forWriting && error.isOfFullDisk {
      // There is no space for the index of the log, or for the file of the lock.
      try loadSnapshot()
    }
  }

  /// Whether the file of an open database is still at its path.
  func isCurrent(_ database: OpenDatabase) throws -> Bool {
    guard let stat = try file.inspect(), stat.identity == database.identity else { return false }
    // SQLite would continue with its data in memory.
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
    database.close(file)
  }

  private func open(forWriting: Bool) throws {
    // A reader must not wait for a stopped writer.
    if !forWriting, try openReady() { return }
    if forWriting { try translated(PrivateFile.makeFolder(file.folder)) }
    let counter = try lockedCounter()
    defer { counter.unlock() }
    let found = try file.inspect()
    if found == nil {
      guard forWriting else { return try loadPropertyList() }
      try create(counter)
    } else if found?.size == 0 {
      try checkUnused()
    }
    guard let database = try connect(counter) else { return try loadPropertyList() }
    do {
      if case .empty = try checkedTables(database.connection) {
        guard forWriting else {
          database.connection.close()
          return try loadPropertyList()
        }
        try createTables(database)
      }
      try adopt(database) { state in try counter.set(state.generation) }
    } catch {
      database.connection.rollBack()
      database.connection.close()
      throw error
    }
  }

  /// Checks the tables, and that the log belongs to the database.
  func checkedTables(_ connection: SQLiteConnection) throws -> PreferenceSchema.Finding {
    let finding = try PreferenceSchema.check(connection)
    if case .ready = finding { try PreferenceSchema.requireOwnLog(connection, file) }
    return finding
  }

  private func lockedCounter() throws -> GenerationCounter {
    let deadline = Deadline(after: file.timeout)
    while true {
      let counter = try GenerationCounter(path: file.lockPath)
      if try counter.lock(deadline) { return counter }
      // Another process has replaced the file.
      counter.unlock()
    }
  }

  /// Uses the file as it is from now on, although committed changes are missing; returns how many.
  func acceptRestored() throws -> Int64 {
    try locked {
      guard ownTransaction == nil else {
        throw PreferencesError(.conflict, "a file cannot be accepted within a transaction of it")
      }
      guard let stat = try file.inspect(), stat.size > 0 else { return 0 }
      guard file.isWritable else { throw readOnly }
      let counter = try lockedCounter()
      defer { counter.unlock() }
      guard let record = counter.record, let database = try connect(counter) else { return 0 }
      defer { database.close(file) }
      guard case .ready = try checkedTables(database.connection) else { return 0 }
      let present = try database.state().generation
      guard present < record.least else { return 0 }
      // No generation is used again, and a process that knows a later one than what is left forgets
      // everything.
      let next = record.least + 1
      try counter.record(.accepted(present, after: record))
      do {
        try PreferenceSchema.requireDurability(database.connection, onNetwork: file.isOnNetwork)
        // A log begins with the database's generation, or the next.
        try database.connection.commitNothing()
        try database.connection.run("BEGIN IMMEDIATE")
        try database.connection.run(
          "UPDATE state SET generation = ?, floor = ?", .integer(next), .integer(next))
        try counter.setUncertain(after: present)
        try database.connection.run("COMMIT")
      } catch {
        database.connection.rollBack()
        throw error
      }
      try counter.record(.committed(next, after: counter.record))
      try counter.set(next)
      return record.least - present
    }
  }

  /// Opens a database that has tables.
  private func openReady() throws -> Bool {
    guard let stat = try file.inspect(), stat.size > 0 else { return false }
    guard let database = try connect(try GenerationCounter(path: file.lockPath)) else {
      return false
    }
    do {
      guard case .ready = try checkedTables(database.connection) else {
        database.connection.close()
        return false
      }
      try adopt(database) { state in correctCounter(database, state.generation) }
      return true
    } catch {
      database.connection.rollBack()
      database.connection.close()
      throw error
    }
  }

  /// Opens a connection, or returns `nil` if there is no file.
  private func connect(_ counter: GenerationCounter) throws -> OpenDatabase? {
    try file.checkSidecars()
    guard let identity = try file.inspect()?.identity else { return nil }
    let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
    connection.setBusyTimeout(file.timeout)
    do {
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
    correctingCounter correct: (OpenDatabase.State) throws -> Void
  ) throws {
    try PreferenceSchema.requireDurability(database.connection, onNetwork: file.isOnNetwork)
    let before = source
    var values: [KeyBytes: PreferenceValue.Encoded] = [:]
    // One transaction, so that the values are those of the generation.
    try database.connection.run("BEGIN")
    defer { database.connection.rollBack() }
    let state = try database.latestState()
    let isObserved = !observers.isEmpty && isKnown(before)
    if isObserved { try database.forEach { key, stored in values[key] = stored } }
    try database.connection.run("COMMIT")
    // SQLite has opened them now. They belong to this database if it is still at its path.
    let logFiles = try? file.logFiles()
    if try file.inspect()?.identity == database.identity { database.logFiles = logFiles }
    try correct(state)
    source = .database(database)
    hasTriedToImport = false
    cache.begin(file.isOnNetwork ? nil : database.counter, generation: state.generation)
    guard isObserved else { return }
    // They are the old values of the next changes.
    let known = values.compactMapValues(\.decoded)
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
  private func create(_ counter: GenerationCounter) throws {
    // A file without contents, but with a counter that was set, is damaged.
    try counter.clear()
    // The files of a removed database belong to processes that still use it.
    for path in [file.logPath, file.sharedMemoryPath, file.journalPath] { unsafe unlink(path) }
    do throws(Errno) {
      try PrivateFile.makeEmpty(file.path)
    } catch {
      guard error == .fileExists else { throw PreferencesError(.failed(error, "make", file.path)) }
    }
    try translated(PrivateFile.syncFolder(file.folder))
  }

  /// Refuses an empty file that had contents; the first writer may have found no space.
  private func checkUnused() throws {
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

  /// Creates the tables with a rollback journal, so that they are on the disk before there is a
  /// log.
  private func createTables(_ database: OpenDatabase) throws {
    let connection = database.connection
    try connection.run("PRAGMA synchronous = FULL")
    try connection.run("BEGIN IMMEDIATE")
    try PreferenceSchema.create(connection)
    hasTriedToImport = false
    try importPropertyList(
      into: WriteTransaction(database, generation: 1, isObserved: false))
    try connection.run("COMMIT")
  }

  /// Reports what differs from the previously visible values.
  func postChanges(from source: Source, to values: [KeyBytes: PreferenceValue]) {
    guard !observers.isEmpty else { return }
    var removed: [KeyBytes: PreferenceValue]
    switch source {
    case .propertyList(let loaded), .snapshot(let loaded), .left(let loaded):
      removed = loaded.values
    case .unknown, .database: return
    }
    var changes = values.map { key, value in
      PreferenceChange(
        key.text, from: removed.removeValue(forKey: key)?.object, to: value.object)
    }
    changes += removed.map { PreferenceChange($0.text, from: $1.object, to: nil) }
    post(changes)
  }
}

extension PreferencesError {
  /// Committed changes are missing: the log was changed or removed, or a copy was restored.
  static func rolledBack(to present: Int64, from last: Int64, _ path: String) -> Self {
    let count = last - present
    return Self(
      .rolledBack,
      "\(count == 1 ? "the last change" : "the last \(count) changes") of the preferences "
        + "\(count == 1 ? "is" : "are") missing: the file's log was changed or removed, or an "
        + "older copy of the file was restored; restore a copy of all its files, or accept what is "
        + "left: \(path)"
    )
  }

  static func damagedValue(_ key: PreferenceKey) -> Self {
    Self(
      .damaged, "the value of the key '\(key)' is damaged; set it again, or remove it")
  }
}

extension PreferencesError {
  /// Whether the disk has no space for a change or a file.
  var isOfFullDisk: Bool { systemCode == ENOSPC || systemCode == EDQUOT }
}
