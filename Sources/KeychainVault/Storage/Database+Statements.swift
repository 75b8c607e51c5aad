internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import KeychainCredentials

extension Database {
  /// Runs a statement that GRDB keeps, and calls `body` with each row until it returns `false`.
  ///
  /// Its values are bound and its rows read without GRDB, which takes several times as long as SQLite
  /// for a short row.
  ///
  /// The statement must not be run again by `body`.
  ///
  /// - Throws: `DatabaseError`, or what `body` throws.
  func forEachRow(
    _ sql: String, _ arguments: [BoundValue] = [],
    _ body: (StoredRow) throws(KeychainError) -> Bool
  ) throws {
    let statement = unsafe try cachedStatement(sql: sql).sqliteStatement
    unsafe sqlite3_reset(statement)
    // An unfinished statement would keep its lock after the end of the transaction.
    defer { unsafe sqlite3_reset(statement) }
    for (index, argument) in arguments.enumerated() {
      try require(unsafe argument.bind(to: statement, at: CInt(index + 1)), SQLITE_OK)
    }
    while true {
      let code = unsafe sqlite3_step(statement)
      guard code == SQLITE_ROW else { return try require(code, SQLITE_DONE) }
      guard try body(StoredRow(of: statement)) else { return }
    }
  }

  /// Runs a statement without a result that GRDB keeps.
  func run(_ sql: String) throws {
    try forEachRow(sql) { _ in true }
  }

  private func require(_ code: CInt, _ expected: CInt) throws {
    guard code != expected else { return }
    throw DatabaseError(
      resultCode: code & 0xFF == SQLITE_CORRUPT && hasFailedToRead
        ? .SQLITE_IOERR_CORRUPTFS : ResultCode(rawValue: code), message: lastErrorMessage)
  }

  /// Whether the disk has failed to read the file, which SQLite reports as damage within a statement.
  private var hasFailedToRead: Bool {
    var systemCode: CInt = 0
    guard let connection = unsafe sqliteConnection,
      unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &systemCode)
        == SQLITE_OK
    else { return false }
    return systemCode == EIO || systemCode == ENXIO
  }
}
