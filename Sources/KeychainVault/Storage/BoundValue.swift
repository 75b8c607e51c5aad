internal import Foundation
internal import GRDB
internal import GRDBSQLite

/// The value of a parameter of a statement.
enum BoundValue {
  case null
  case integer(Int64)
  case blob(Data)

  /// Gives the value to a statement, which copies it.
  ///
  /// - Returns: SQLite's result code.
  func bind(to statement: SQLiteStatement, at index: CInt) -> CInt {
    switch self {
    case .null: unsafe sqlite3_bind_null(statement, index)
    case .integer(let value): unsafe sqlite3_bind_int64(statement, index, value)
    case .blob(let data):
      unsafe data.withUnsafeBytes { bytes in
        // A null pointer would bind NULL.
        guard let start = bytes.baseAddress else {
          return unsafe sqlite3_bind_zeroblob(statement, index, 0)
        }
        return unsafe sqlite3_bind_blob64(
          statement, index, start, UInt64(bytes.count), Self.copied)
      }
    }
  }

  /// SQLITE_TRANSIENT, a macro that Swift does not import.
  private static var copied: sqlite3_destructor_type {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }
}

extension BoundValue {
  /// A blob, or `NULL`.
  static func optional(_ data: Data?) -> Self { if let data { .blob(data) } else { .null } }
}
