internal import CPrephirencesSQLite
internal import CPrephirencesSQLiteChecks
internal import Glibc
internal import PreferencesCore
internal import PrephirencesSystem
internal import SystemPackage

/// A connection to an SQLite file, used by one thread at a time.
///
/// Only ``close()`` closes it; otherwise it is leaked. Closing leaves the write-ahead log as it is.
@safe
final class SQLiteConnection {
  let path: String
  private let handle: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]

  /// The number of frames in the write-ahead log after the last commit, which SQLite updates.
  private let frames: UnsafeMutablePointer<CInt>

  /// How SQLite opens the file.
  enum Mode {
    case readWrite
    /// Nobody changes the file meanwhile.
    case immutable
  }

  /// Opens an existing file.
  init(path: String, mode: Mode) throws {
    self.path = path
    var opened: OpaquePointer?
    let (name, flags) =
      switch mode {
      case .readWrite: (path, SQLITE_OPEN_READWRITE)
      case .immutable: (Self.uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
      }
    let code = unsafe csqlitechecks_open(
      name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE)
    guard code == SQLITE_OK, let opened = unsafe opened else {
      let isDiskFailure = unsafe SQLiteErrors.isDiskFailure(sqlite3_system_errno(opened))
      unsafe sqlite3_close_v2(opened)
      throw SQLiteErrors.error(isDiskFailure ? SQLiteErrors.failedRead : code, path)
    }
    unsafe handle = opened
    unsafe frames = .allocate(capacity: 1)
    unsafe frames.initialize(to: 0)
  }

  private static func uri(_ path: String) -> String {
    let escaped = path.unicodeScalars.map { scalar in
      "?#%".unicodeScalars.contains(scalar)
        ? "%" + String(scalar.value, radix: 16) : String(scalar)
    }
    return "file:" + escaped.joined() + "?immutable=1"
  }

  func close() {
    for statement in statements.values { statement.finalize() }
    statements = [:]
    unsafe sqlite3_close_v2(handle)
    unsafe frames.deallocate()
  }

  /// Starts counting the frames of the write-ahead log.
  func countFrames() {
    unsafe sqlite3_wal_hook(
      handle,
      { context, _, _, count in
        unsafe context?.assumingMemoryBound(to: CInt.self).pointee = count
        return SQLITE_OK
      }, frames)
  }

  var frameCount: Int { unsafe Int(frames.pointee) }

  /// Sets how long SQLite waits for other connections.
  func setBusyTimeout(_ timeout: Duration) {
    unsafe sqlite3_busy_timeout(handle, CInt(clamping: Int(timeout / .milliseconds(1))))
  }

  /// Whether a transaction is open: a failure can end it.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  // MARK: - Statements

  /// Performs a statement, and calls a closure with each row.
  func run(
    _ sql: String, _ values: SQLiteValue..., row: (SQLiteStatement) throws -> Void = { _ in }
  ) throws { try run(sql, values, row) }

  /// Returns the closure's results for all rows, without `nil`.
  func all<Element>(
    _ sql: String, _ values: SQLiteValue..., element: (SQLiteStatement) throws -> Element?
  ) throws -> [Element] {
    var elements: [Element] = []
    try run(sql, values) { row in if let element = try element(row) { elements.append(element) } }
    return elements
  }

  /// Returns the closure's result for the first row, or `nil` if there is none.
  func first<Element>(
    _ sql: String, _ values: SQLiteValue..., element: (SQLiteStatement) throws -> Element?
  ) throws -> Element? {
    var first: Element?
    try run(sql, values) { row in if first == nil { first = try element(row) } }
    return first
  }

  /// Whether the statement returns a row.
  func exists(_ sql: String, _ values: SQLiteValue...) throws -> Bool {
    var exists = false
    try run(sql, values) { _ in exists = true }
    return exists
  }

  private func run(
    _ sql: String, _ values: [SQLiteValue], _ row: (SQLiteStatement) throws -> Void
  ) throws {
    let statement = try prepared(sql)
    defer { statement.reset() }
    for (index, value) in values.enumerated() {
      guard statement.bind(CInt(index + 1), value) == SQLITE_OK else { throw lastError }
    }
    while true {
      switch statement.step() {
      case SQLITE_ROW: try row(statement)
      case SQLITE_DONE: return
      default: throw lastError
      }
    }
  }

  /// Reads a page of the database itself, ignoring the log.
  ///
  /// Returns `nil` if it cannot be read, as after a power failure while it was copied: then the log
  /// has it.
  func databasePage(_ number: Int64) -> [UInt8]? {
    var page = [UInt8](repeating: 0, count: 4096)
    return unsafe csqlitechecks_read(handle, number, &page) == SQLITE_OK ? page : nil
  }

  /// Reads the first version of a page in the log, or returns `nil` if none can be read.
  func firstPageInLog(_ number: Int64) -> [UInt8]? {
    var page = [UInt8](repeating: 0, count: 4096)
    return unsafe csqlitechecks_read_log(handle, number, &page) == SQLITE_OK ? page : nil
  }

  /// Returns the first column of the first row, if it is an integer.
  func integer(_ sql: String) throws -> Int64? { try first(sql) { $0.integer(0) } }

  func text(_ sql: String) throws -> String? { try first(sql) { $0.text(0) } }

  /// Rolls back an open transaction; if that fails, it stays open.
  func rollBack() {
    guard isInTransaction else { return }
    try? run("ROLLBACK")
  }

  /// Performs a commit that changes no value.
  func commitNothing() throws {
    do {
      try run("BEGIN IMMEDIATE")
      try run("UPDATE state SET syncs = syncs + 1")
      try run("COMMIT")
    } catch {
      rollBack()
      throw error
    }
  }

  /// Whether the last statement failed because of other connections or a full disk: then a commit
  /// has not written its last page.
  var wasRefused: Bool {
    unsafe [SQLITE_BUSY, SQLITE_FULL].contains(sqlite3_errcode(handle) & 0xFF)
  }

  /// Copies the write-ahead log into the database, as far as no reader needs the old pages.
  func checkpoint(_ mode: CheckpointMode) throws -> Checkpoint {
    var (log, copied): (CInt, CInt) = (-1, -1)
    let number =
      switch mode {
      case .passive: SQLITE_CHECKPOINT_PASSIVE
      case .truncate: SQLITE_CHECKPOINT_TRUNCATE
      }
    let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, number, &log, &copied)
    guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else {
      throw SQLiteErrors.error(code, path)
    }
    return Checkpoint(frames: max(0, Int(log)), isComplete: log >= 0 && log == copied)
  }

  enum CheckpointMode {
    case passive
    /// Also empties the log, if nobody reads it.
    case truncate
  }

  /// The result of a checkpoint.
  struct Checkpoint {
    /// The frames that remain in the log.
    var frames: Int
    /// Whether all of them are in the database and on the disk.
    var isComplete: Bool
  }

  private func prepared(_ sql: String) throws -> SQLiteStatement {
    if let statement = statements[sql] { return statement }
    var made: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(
      handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
    guard code == SQLITE_OK, let made = unsafe made else { throw lastError }
    let statement = unsafe SQLiteStatement(made)
    statements[sql] = statement
    return statement
  }

  private var lastError: PreferencesError {
    let code = unsafe sqlite3_extended_errcode(handle)
    let isFailedRead =
      code & 0xFF == SQLITE_CORRUPT
      && [SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER].contains(where: hasFailedToRead)
    return SQLiteErrors.error(isFailedRead ? SQLiteErrors.failedRead : code, path)
  }

  /// Whether the disk failed to read a file, which SQLite reports as damage within a statement.
  private func hasFailedToRead(_ pointer: CInt) -> Bool {
    var file: UnsafeMutablePointer<sqlite3_file>?
    var systemCode: CInt = 0
    guard unsafe sqlite3_file_control(handle, "main", pointer, &file) == SQLITE_OK,
      let file = unsafe file, let methods = unsafe file.pointee.pMethods,
      unsafe methods.pointee.xFileControl?(file, SQLITE_FCNTL_LAST_ERRNO, &systemCode) == SQLITE_OK
    else { return false }
    return SQLiteErrors.isDiskFailure(systemCode)
  }
}

/// A parameter of a statement.
enum SQLiteValue {
  case integer(Int64)
  case bytes([UInt8])
}

/// A prepared statement; like a connection, it is only finalized by ``finalize()``.
@safe
final class SQLiteStatement {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  func finalize() { unsafe sqlite3_finalize(handle) }

  func bind(_ index: CInt, _ value: SQLiteValue) -> CInt {
    switch value {
    case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
    // An empty buffer has a null address, which SQLite would store as NULL.
    case .bytes(let bytes) where bytes.isEmpty: unsafe sqlite3_bind_zeroblob(handle, index, 0)
    case .bytes(let bytes):
      unsafe sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), Self.copying)
    }
  }

  func step() -> CInt { unsafe sqlite3_step(handle) }

  func reset() { unsafe sqlite3_reset(handle) }

  func integer(_ column: CInt) -> Int64? {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { return nil }
    return unsafe sqlite3_column_int64(handle, column)
  }

  func isBytes(_ column: CInt) -> Bool {
    unsafe sqlite3_column_type(handle, column) == SQLITE_BLOB
  }

  func text(_ column: CInt) -> String { String(decoding: bytes(column), as: UTF8.self) }

  func bytes(_ column: CInt) -> [UInt8] {
    // In this order, because SQLite may convert the value first.
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Makes SQLite copy the bytes (`SQLITE_TRANSIENT`, which is a macro).
  private static var copying: sqlite3_destructor_type {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }
}

/// Converts the errors of SQLite into those of preferences.
enum SQLiteErrors {
  static func error(_ extendedCode: CInt, _ path: String) -> PreferencesError {
    // SQLite does not keep the system's error number.
    if extendedCode & 0xFF == SQLITE_CANTOPEN {
      if Errno.hasNoDescriptor {
        return PreferencesError(.failed(.tooManyOpenFiles, "open", path))
      }
      if isFull(path) { return error(SQLITE_FULL, path) }
    }
    let (code, message) = meaning(extendedCode)
    return PreferencesError(
      code, "\(message) (SQLite error \(extendedCode)): \(path)",
      systemCode: systemCode(extendedCode))
  }

  /// Whether the file system of a file has no space, or no inode left.
  private static func isFull(_ path: String) -> Bool {
    var found = statvfs()
    guard unsafe statvfs(path, &found) == 0 else { return false }
    return found.f_bavail == 0 || found.f_files > 0 && found.f_favail == 0
  }

  private static func systemCode(_ extendedCode: CInt) -> CInt? {
    switch extendedCode {
    // The index of the log could not grow.
    case SQLITE_FULL, shortIndex: ENOSPC
    default: extendedCode & 0xFF == SQLITE_NOMEM ? ENOMEM : nil
    }
  }

  /// The code for an index of the log that could not grow (`SQLITE_IOERR_SHMSIZE`, a macro).
  private static let shortIndex = SQLITE_IOERR | (19 << 8)

  /// The code for a disk that fails to read (`SQLITE_IOERR_CORRUPTFS`, a macro).
  static let failedRead = SQLITE_IOERR | (33 << 8)

  /// Whether an error number means that a disk fails.
  static func isDiskFailure(_ systemCode: CInt) -> Bool { systemCode == EIO || systemCode == ENXIO }

  private static func meaning(_ extendedCode: CInt) -> (PreferencesError.Code, String) {
    switch extendedCode == shortIndex ? SQLITE_FULL : extendedCode & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT:
      (.timedOut, "another process used the preferences for too long; try again")
    case SQLITE_FULL:
      (.inputOutput, "the disk is full; free some space, and try again")
    case SQLITE_READONLY:
      (.readOnly, "the preferences cannot be changed here; make the file and its folder writable")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      (.inputOutput, "the preferences cannot be opened; check the permissions of the folder")
    case SQLITE_IOERR, SQLITE_NOLFS, SQLITE_PROTOCOL:
      (.inputOutput, "reading or writing the preferences failed; check the disk")
    case SQLITE_NOMEM:
      (.inputOutput, "there is not enough memory for the preferences")
    case SQLITE_TOOBIG:
      (.unstorable, "the value is too long for the preferences")
    case SQLITE_NOTADB:
      (.damaged, "the file holds no preferences, or its beginning is damaged; move it away")
    default:
      // The statements are fixed, so any other error is caused by the file.
      (.damaged, "the preferences are damaged; move the file away, or restore a copy")
    }
  }
}
