internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import KeychainCredentials

/// A value of a parameter of a statement.
enum StatementArgument {
  case integer(Int64)
  case blob(Data)
}

extension Database {
  /// Runs a statement that GRDB keeps, and calls `body` with each row until it returns `false`.
  ///
  /// The statement must not be run again by `body`.
  ///
  /// - Throws: `DatabaseError`, or what `body` throws.
  func forEachRow(
    _ sql: String, _ arguments: [StatementArgument] = [],
    _ body: (StoredRow) throws(KeychainError) -> Bool
  ) throws {
    let statement = unsafe try cachedStatement(sql: sql).sqliteStatement
    unsafe sqlite3_reset(statement)
    // An unfinished statement would keep its lock after the end of the transaction.
    defer { unsafe sqlite3_reset(statement) }
    for (index, argument) in arguments.enumerated() {
      try require(unsafe Self.bind(argument, to: CInt(index + 1), of: statement), SQLITE_OK)
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
    throw DatabaseError(resultCode: ResultCode(rawValue: code), message: lastErrorMessage)
  }

  private static func bind(
    _ argument: StatementArgument, to index: CInt, of statement: OpaquePointer
  ) -> CInt {
    switch argument {
    case .integer(let number): unsafe sqlite3_bind_int64(statement, index, number)
    // No bytes at a null address would be a null.
    case .blob(let data) where data.isEmpty: unsafe sqlite3_bind_zeroblob(statement, index, 0)
    case .blob(let data):
      unsafe data.withUnsafeBytes {
        unsafe sqlite3_bind_blob64(
          statement, index, $0.baseAddress, UInt64($0.count), copyingBytes)
      }
    }
  }

  /// Makes SQLite copy the bytes (`SQLITE_TRANSIENT`, which is a macro).
  private static var copyingBytes: sqlite3_destructor_type {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }
}
