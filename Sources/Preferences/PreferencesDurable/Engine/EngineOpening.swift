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
      // The index of the log, or the file of the lock, has no room.
      try loadSnapshot()
    }
  }

  /// Whether the file of an open database is still at its path.
  func isCurrent(_ database: OpenDatabase) throws -> Bool {
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
    database.close(file)
  }

  private func open(forWriting: Bool) throws {
    // A reader must not wait for a writer that was stopped.
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

  /// Checks the tables, and that the log is the database's.
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

  /// Uses the file as it is from now on, although changes that were made are missing.
  ///
  /// Returns how many; 0 if none is.
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
      // No number of a change is given again, and whoever knows a higher one than what is left forgets
      // everything.
      let next = record.least + 1
      try counter.record(.accepted(present, after: record))
      do {
        try PreferenceSchema.requireDurability(database.connection, onNetwork: file.isOnNetwork)
        // A log begins with the generation that the database has, or the next.
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

  /// Opens a connection; `nil` if there is no file.
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
    // Now SQLite has opened them. They are this database's if it is still at its path.
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

  /// Creates the tables by a rollback journal, so that they are on the disk before there is a log.
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

  /// Reports what differs from the values that were visible before.
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

/// An open file of preferences; used under the engine's lock.
final class OpenDatabase {
  let connection: SQLiteConnection
  let counter: GenerationCounter
  let identity: FileIdentity
  let isOnNetwork: Bool

  /// The log and its index that the connection uses; `nil` if they are not known.
  var logFiles: Set<FileIdentity>?

  /// The number of frames from which on a writer checkpoints.
  var checkpointThreshold = OpenDatabase.leastCheckpointThreshold

  static let leastCheckpointThreshold = 1000

  /// The bytes of a page in the log, with its header.
  static let frameSize = 4120

  /// The bytes of a file system below which each change is copied at once.
  static let leastFreeRoom = 64 << 10

  /// Whether this process has made changes that may be in the log only.
  var hasUncopiedChanges = false

  /// The generation that this connection has brought to the disk.
  var syncedGeneration: Int64 = 0

  /// The random bytes of the batch of a shared file whose number this connection has brought to the
  /// disk.
  var syncedBatch: [UInt8] = []

  /// Whether the property list of `UserDefaults` was imported when the state was last read.
  private(set) var isImported = false

  /// Whether the tables that were checked are those of a shared file.
  var isShared: Bool

  init(
    _ connection: SQLiteConnection, _ counter: GenerationCounter, _ identity: FileIdentity,
    isOnNetwork: Bool, isShared: Bool = false
  ) {
    self.connection = connection
    self.counter = counter
    self.identity = identity
    self.isOnNetwork = isOnNetwork
    self.isShared = isShared
  }

  /// Closes the files, also if they were removed or replaced.
  ///
  /// But if only the database was replaced, then the new one uses the index of the log, too, and
  /// closing it would drop this process's locks on it. Then the connection is leaked, as if other code
  /// of this process has closed its descriptors.
  func close(_ file: SuiteFile) {
    guard counter.isOpen else { return }
    if (try? file.inspect())??.identity != identity {
      guard let logFiles, let present = try? file.logFiles(), logFiles.isDisjoint(with: present)
      else { return }
    }
    connection.close()
  }

  /// The numbers of the file.
  struct State {
    var generation: Int64 = 0

    /// Removals up to this generation are no longer recorded.
    var floor: Int64 = 0
    var isImported = false

    /// The generation in which the file was last shared, or its settings were changed; 0 if it is
    /// not shared.
    var sharing: Int64 = 0
  }

  /// The generations that a file can have: twice as much fits into the counter.
  private static let generations = 1..<(Int64.max >> 1)

  /// Reads the numbers at the beginning of a transaction.
  ///
  /// Fails with ``PreferencesError/Code/rolledBack`` if changes that were made are missing.
  func latestState() throws -> State {
    // Before the transaction begins to read: a change that is made later may not be in it.
    let least = isOnNetwork ? nil : counter.record?.least
    let state = try state()
    if let least, state.generation < least {
      throw PreferencesError.rolledBack(to: state.generation, from: least, connection.path)
    }
    return state
  }

  func state() throws -> State {
    var state: State?
    try connection.run("SELECT generation, floor, imported, sharing FROM state") { row in
      guard let generation = row.integer(0), let floor = row.integer(1),
        let imported = row.integer(2), let sharing = row.integer(3), sharing >= 0,
        Self.generations.contains(generation)
      else { return }
      state = State(
        generation: generation, floor: floor, isImported: imported != 0, sharing: sharing)
    }
    guard let state else { throw damage }
    isImported = state.isImported
    if (state.sharing > 0) != isShared { try checkSharing(state) }
    return state
  }

  /// Checks the tables that another process has made or removed.
  private func checkSharing(_ state: State) throws {
    let finding =
      connection.isInTransaction
      ? try PreferenceSchema.inspect(connection) : try PreferenceSchema.check(connection)
    guard case .ready(let found) = finding, found == (state.sharing > 0) else { throw damage }
    isShared = found
  }

  private var damage: PreferencesError {
    PreferencesError(
      .damaged, "the preferences are damaged; move the file away: \(connection.path)")
  }

  /// Returns the stored value of a key; `nil` if there is none.
  func stored(_ key: KeyBytes) throws -> PreferenceValue.Encoded? {
    try connection.first("SELECT kind, value FROM preference WHERE key = ?", .bytes(key.bytes)) {
      Self.value($0, 0)
    }
  }

  /// Whether a key has a value, or had one that was removed.
  func hasRow(_ key: KeyBytes) throws -> Bool {
    try connection.exists("SELECT 1 FROM preference WHERE key = ?", .bytes(key.bytes))
  }

  /// Returns the bytes of the keys in a table that are not text in bytes.
  func damagedKeys(in table: String) throws -> [[UInt8]] {
    try connection.all("SELECT key FROM \(table)") { row in
      Self.text(row, 0) == nil ? row.bytes(0) : nil
    }
  }

  /// Calls a closure with each key, removed ones included.
  static func forEachKey(of connection: SQLiteConnection, _ body: (KeyBytes) -> Void) throws {
    try connection.run("SELECT key FROM preference") { row in
      if let key = text(row, 0) { body(KeyBytes(key)) }
    }
  }

  /// Returns the number of keys, removed ones included.
  func count() throws -> Int {
    Int(try connection.integer("SELECT count(*) FROM preference") ?? 0)
  }

  /// Calls a closure with each key that has a value; without those that are damaged themselves.
  func forEach(_ body: (KeyBytes, PreferenceValue.Encoded) throws -> Void) throws {
    try connection.run(Self.allValues) { row in
      if let key = Self.text(row, 0), let value = Self.value(row, 1) {
        try body(KeyBytes(key), value)
      }
    }
  }

  /// Returns all values that can be read, and why others cannot.
  static func contents(of connection: SQLiteConnection) throws -> ReadablePairs {
    var contents = ReadablePairs()
    try connection.run(allValues) { row in
      guard let stored = value(row, 1) else { return }
      guard let key = text(row, 0) else {
        return contents.unreadable.append(
          (String(decoding: row.bytes(0), as: UTF8.self), damagedKey))
      }
      if let value = stored.decoded {
        contents.pairs.append((key, value))
      } else {
        contents.unreadable.append((key, .damagedValue(key)))
      }
    }
    return contents
  }

  private static let allValues = "SELECT key, kind, value FROM preference WHERE kind != 0"

  /// Returns what has changed since a generation; `nil` if there are more changes than `limit`.
  func changes(
    since generation: Int64, limit: Int
  ) throws -> [(key: KeyBytes, value: PreferenceValue.Encoded?)]? {
    let changes = try connection.all(
      "SELECT key, kind, value FROM preference WHERE generation > ? ORDER BY generation LIMIT ?",
      .integer(generation), .integer(Int64(limit) + 1)
    ) { row in
      // Nobody asks for a key that is damaged.
      Self.text(row, 0).map { (key: KeyBytes($0), value: Self.value(row, 1)) }
    }
    return changes.count > limit ? nil : changes
  }

  static func key(_ row: SQLiteStatement, _ column: CInt = 0) throws -> KeyBytes {
    guard let text = text(row, column) else { throw damagedKey }
    return KeyBytes(text)
  }

  private static func text(_ row: SQLiteStatement, _ column: CInt) -> String? {
    // No call finds a key that is text or a number for SQLite.
    row.isBytes(column) ? String(validating: row.bytes(column), as: UTF8.self) : nil
  }

  private static let damagedKey = PreferencesError(
    .damaged, "a key of the preferences is damaged; remove all of them, or restore a copy")

  /// Returns the value in a row; `nil` if it was removed.
  static func value(_ row: SQLiteStatement, _ column: CInt) -> PreferenceValue.Encoded? {
    let number = row.integer(column).flatMap { UInt8(exactly: $0) }
    let kind = number.flatMap(PreferenceValue.Kind.init) ?? .damaged
    return kind == .removed ? nil : PreferenceValue.Encoded(kind: kind, bytes: row.bytes(column + 1))
  }
}

extension PreferencesError {
  /// Changes that were made are missing: the log was changed or removed, or a copy was restored.
  static func rolledBack(to present: Int64, from last: Int64, _ path: String) -> Self {
    let count = last - present
    return Self(
      .rolledBack,
      "\(count == 1 ? "the last change" : "the last \(count) changes") of the preferences "
        + "\(count == 1 ? "is" : "are") missing: the file's log was changed or removed, or an older copy "
        + "of the file was restored; restore a copy of all its files, or accept what is left: \(path)"
    )
  }

  static func damagedValue(_ key: PreferenceKey) -> Self {
    Self(
      .damaged, "the value of the key '\(key)' is damaged; set it again, or remove it")
  }
}

extension PreferencesError {
  /// Whether a disk has no room for a change or for a file.
  var isOfFullDisk: Bool { systemCode == ENOSPC || systemCode == EDQUOT }
}

extension PreferenceValue.Encoded {
  /// Returns the value.
  func decoded(forKey key: KeyBytes) throws -> PreferenceValue {
    guard let value = decoded else { throw PreferencesError.damagedValue(key.text) }
    return value
  }
}
