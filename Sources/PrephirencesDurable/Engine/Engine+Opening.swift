internal import Glibc
internal import Prephirences
internal import PrephirencesFiles
internal import SystemPackage

extension Engine {
  /// Finds out where the values are now, and opens the database if there is one.
  ///
  /// - Parameter forWriting: Whether to create the database if it is missing.
  func look(forWriting: Bool) throws(PreferencesError) {
    let stat = try file.inspect()
    if case .database(let database) = source {
      if stat?.identity == database.identity { return cache.touch() }
      leave()
    }
    let hasDatabase = stat.map { $0.size > 0 } ?? false
    guard file.isWritable else {
      guard !forWriting else {
        throw PreferencesError(
          .readOnly,
          "the preferences cannot be changed here; make the file and its folder writable: "
            + file.path)
      }
      return hasDatabase ? try loadSnapshot() : try loadPropertyList()
    }
    if hasDatabase || forWriting {
      try open(forWriting: forWriting)
    } else {
      try loadPropertyList()
    }
  }

  /// Stops using the database, whose file was removed or replaced.
  ///
  /// The connection is leaked: closing it would remove the files of the new database.
  func leave() {
    if case .database(let database) = source { _ = unsafe Unmanaged.passRetained(database) }
    source = .unknown
    cache.end()
  }

  private func open(forWriting: Bool) throws(PreferencesError) {
    if forWriting { try translated(PrivateFile.makeFolder(file.folder)) }
    let deadline = Deadline(after: file.patience)
    var counter = try GenerationCounter(path: file.lockPath)
    while try !counter.lock(deadline) {
      // Another process has replaced the file.
      counter.unlock()
      counter = try GenerationCounter(path: file.lockPath)
    }
    defer { counter.unlock() }
    if try file.inspect() == nil {
      guard forWriting else { return try loadPropertyList() }
      try create()
    }
    try file.checkSidecars()
    guard let identity = try file.inspect()?.identity else {
      throw PreferencesError(.conflict, "the file was removed while it was opened: \(file.path)")
    }
    let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
    let database = OpenDatabase(connection, counter, identity, isOnNetwork: file.isOnNetwork)
    let isReady: Bool
    do throws(PreferencesError) {
      isReady = try prepare(database, forWriting: forWriting)
    } catch {
      connection.rollBack()
      connection.close()
      throw error
    }
    guard isReady else {
      connection.close()
      return try loadPropertyList()
    }
    let state = try database.state()
    if !file.isOnNetwork { try counter.set(state.generation) }
    let before = source
    source = .database(database)
    cache.begin(file.isOnNetwork ? nil : counter, generation: state.generation)
    try postChanges(from: before, to: database)
  }

  /// Creates an empty file.
  private func create() throws(PreferencesError) {
    // Those of a database that was removed belong to processes that still use it.
    for path in [file.logPath, file.sharedMemoryPath, file.journalPath] { unsafe unlink(path) }
    do throws(Errno) {
      try PrivateFile.makeEmpty(file.path)
    } catch {
      guard error == .fileExists else { throw PreferencesError(.failed(error, "make", file.path)) }
    }
    try translated(PrivateFile.syncFolder(file.folder))
  }

  /// - Returns: `false` if the database has no tables, and was not to be created.
  private func prepare(
    _ database: OpenDatabase, forWriting: Bool
  ) throws(PreferencesError) -> Bool {
    let connection = database.connection
    connection.setBusyTimeout(file.patience)
    try PreferenceSchema.protect(connection)
    let finding = try PreferenceSchema.check(connection)
    guard finding == .ready || forWriting else { return false }
    try PreferenceSchema.requireDurability(connection, onNetwork: file.isOnNetwork)
    if finding == .empty {
      try connection.run("BEGIN IMMEDIATE")
      try PreferenceSchema.create(connection)
      try importPropertyList(into: database)
      try connection.run("COMMIT")
    }
    return true
  }

  /// Reports what differs from the values that were visible before the database was opened.
  private func postChanges(
    from source: Source, to database: OpenDatabase
  ) throws(PreferencesError) {
    guard !observers.isEmpty, case .propertyList(let loaded) = source else { return }
    var removed = loaded.values
    var changes: [PreferenceChange] = []
    try database.forEach { key, stored throws(PreferencesError) in
      let old = removed.removeValue(forKey: key)
      changes.append(
        PreferenceChange(key.text, from: old, to: try stored.decoded(forKey: key)))
    }
    changes += removed.map { PreferenceChange($0.text, from: $1, to: nil) }
    observers.post(changes)
  }
}
