internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem
internal import SystemPackage

// The kernel reports once that it could not write a file to the disk. After that, it counts data
// that is only in memory as written, and succeeds. So a process that begins to sync the log leaves
// a mark next to the counter until it succeeds, even if it is killed. While the mark is there, the
// log is written again before it counts as synced.
extension Engine {
  /// Copies the log into the database if it is long, or if copying may soon lack space; the caller
  /// holds the writers' lock.
  ///
  /// No process can commit meanwhile. Readers that use the log are awaited for a moment: new ones
  /// use the database alone. Only a process that is stopped in the middle of a read keeps the log
  /// growing.
  func checkpointIfNeeded(_ database: OpenDatabase) throws {
    guard !database.isOnNetwork else { return }
    let frames = database.connection.frameCount
    if frames >= database.checkpointThreshold {
      try checkpoint(database)
    } else if file.freeRoom < 4 * frames * OpenDatabase.frameSize + OpenDatabase.leastFreeRoom {
      try checkpoint(database, waits: false)
    }
  }

  /// Copies the log into the database, and returns how many frames the log still has; the caller
  /// holds the writers' lock.
  @discardableResult
  private func checkpoint(_ database: OpenDatabase, waits: Bool = true) throws -> Int {
    database.connection.setBusyTimeout(waits ? min(.milliseconds(100), file.timeout) : .zero)
    defer { database.connection.setBusyTimeout(file.timeout) }
    let generation = try database.latestState().generation
    // A reader that starts now sees the whole log, so it does not delay the copying; a later one
    // uses the database alone. Truncating at once would need a moment without any reader.
    let done = try marked(database) {
      for _ in 0..<(waits ? 20 : 0) {
        guard try !database.connection.checkpoint(.passive).isComplete else { break }
        usleep(5_000)
      }
      return try database.connection.checkpoint(.truncate)
    }
    if done.isComplete {
      database.hasUncopiedChanges = false
      try? database.counter.record(.synchronized(generation))
    }
    database.checkpointThreshold = done.frames + OpenDatabase.leastCheckpointThreshold
    return done.frames
  }

  /// Copies the log into the database if it has changes of this process, without waiting.
  ///
  /// Returns `false` if it must be tried again.
  func copyLog() -> Bool {
    guard !ForkMark.preferences.isForked else { return true }
    return lockedIfFree {
      guard ownTransaction == nil else { return false }
      guard case .database(let database) = source, database.counter.isOpen else { return true }
      do {
        return try copyLog(of: database)
      } catch {
        // The next change tries again, and reports failures that persist.
        database.hasUncopiedChanges = false
        return true
      }
    } ?? false
  }

  func copyLog(of database: OpenDatabase) throws -> Bool {
    guard database.hasUncopiedChanges, !database.isOnNetwork else { return true }
    guard try database.counter.tryLock() else { return false }
    defer { database.counter.unlock() }
    // If the file was removed or replaced, the log may belong to another one.
    guard try isCurrent(database) else { return true }
    try file.checkSidecars()
    try checkpoint(database, waits: false)
    return !database.hasUncopiedChanges
  }

  /// Empties the log after a change for which there was no space, to free some; the caller holds
  /// the writers' lock.
  func freeLog(_ database: OpenDatabase) {
    if !database.isOnNetwork { _ = try? checkpoint(database) }
  }

  func checkpoint() throws -> Int {
    try locked {
      let database = try lockedDatabase(Deadline(after: file.timeout))
      defer { database.counter.unlock() }
      return database.isOnNetwork ? 0 : try checkpoint(database)
    }
  }

  /// Waits until all commits of all processes are on the disk.
  func synchronize(always: Bool = false) throws {
    try locked {
      guard ownTransaction == nil else {
        throw PreferencesError(
          .conflict, "preferences cannot be synchronized within a transaction; do so after it")
      }
      try look(forWriting: false)
      guard case .database = source else { return }
      let database = try lockedDatabase(Deadline(after: file.timeout))
      defer { database.counter.unlock() }
      let state = try database.latestState()
      // Not a number in the file: a process that is killed before the log is synced would leave it
      // there.
      let isSynced =
        database.isOnNetwork
        ? !database.counter.isMarked : database.syncedGeneration == state.generation
      guard !isSynced || always else { return }
      try file.checkSidecars()
      do {
        try synchronize(database)
      } catch let error as PreferencesError where error.code == .inputOutput {
        throw PreferencesError(
          .outcomeUnknown,
          "the changes are made, but it is not known whether they are on the disk, and a power "
            + "failure may lose them; synchronize again: "
            + "\(error.message)", systemCode: error.systemCode)
      }
      database.syncedGeneration = state.generation
      if !database.isOnNetwork { try? database.counter.record(.synchronized(state.generation)) }
      try? checkpointIfNeeded(database)
    }
  }

  private func synchronize(_ database: OpenDatabase) throws {
    let connection = database.connection
    if database.isOnNetwork {
      // Here, each commit is on the disk when it ends; another one syncs a commit whose end failed.
      try connection.commitNothing()
      return try database.counter.setMarked(false)
    }
    try connection.run("PRAGMA synchronous = FULL")
    defer { try? connection.run("PRAGMA synchronous = NORMAL") }
    try marked(database) { try connection.commitNothing() }
  }

  /// Syncs the write-ahead log, while others read and write.
  ///
  /// SQLite has no locks on the log, so closing the descriptor releases none. A checkpoint syncs
  /// what it takes out of the log.
  func syncLog(_ database: OpenDatabase) throws {
    guard !file.isOnNetwork else { return }
    guard !database.counter.isMarked else { return try synchronize(always: true) }
    do throws(Errno) {
      let descriptor = try PrivateFile.open(file.logPath, flags: O_NONBLOCK)
      defer { try? descriptor.close() }
      guard fdatasync(descriptor.rawValue) == 0 else { throw Errno.current }
    } catch {
      try? database.counter.setMarked(true)
      throw PreferencesError(.failed(error, "write to the disk", file.logPath))
    }
    // The log may be new.
    try translated(PrivateFile.syncFolder(file.folder))
  }

  // MARK: - The mark

  /// Performs an action that syncs the log, under the mark; the caller holds the writers' lock.
  private func marked<Result>(
    _ database: OpenDatabase, _ body: () throws -> Result
  ) throws -> Result {
    if database.counter.isMarked {
      try rewriteLog()
    } else {
      try database.counter.setMarked(true)
    }
    let result = try body()
    try database.counter.setMarked(false)
    return result
  }

  /// Writes the log's own bytes into it, so that the kernel writes all of them to the disk.
  private func rewriteLog() throws {
    do throws(Errno) {
      let descriptor = try PrivateFile.open(file.logPath, .readWrite, flags: O_NONBLOCK)
      defer { try? descriptor.close() }
      var offset = 0
      while case let bytes = try DescriptorIO.read(descriptor, 1 << 20), !bytes.isEmpty {
        let count = unsafe pwrite(descriptor.rawValue, bytes, bytes.count, offset)
        guard count == bytes.count else { throw count < 0 ? .current : .noSpace }
        offset += count
      }
      guard fdatasync(descriptor.rawValue) == 0 else { throw Errno.current }
    } catch {
      guard error != .noSuchFileOrDirectory else { return }
      throw PreferencesError(.failed(error, "write to the disk", file.logPath))
    }
    try translated(PrivateFile.syncFolder(file.folder))
  }

  // MARK: - Outcomes

  /// Finds out whether a failed commit took place; the caller holds the writers' lock.
  func settle(_ transaction: WriteTransaction, after failure: PreferencesError) throws {
    let (database, connection) = (transaction.database, transaction.database.connection)
    let wasRefused = connection.wasRefused
    connection.rollBack()
    do {
      guard !connection.isInTransaction else { throw failure }
      let state = try database.state()
      guard state.generation != transaction.generation else {
        // Only the last step failed: others see the change, but a power failure may undo it.
        return try database.counter.setMarked(true)
      }
      // The log may contain all of it, and SQLite would find it when it next reads the whole log.
      // Another commit overwrites it.
      if !database.isOnNetwork, !wasRefused { try connection.commitNothing() }
      if !database.isOnNetwork { try? database.counter.set(state.generation) }
    } catch {
      throw PreferencesError(
        .outcomeUnknown,
        "it is not known whether the change was made; read the value before you set it again: "
          + failure.message, systemCode: failure.systemCode)
    }
    throw failure
  }
}
