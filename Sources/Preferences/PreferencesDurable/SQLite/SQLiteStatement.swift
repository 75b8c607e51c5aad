internal import CSQLite

/// A value of a parameter of a statement.
enum SQLiteValue {
  case integer(Int64)
  case bytes([UInt8])
}

/// A prepared statement, finalized by ``finalize()`` only, as its connection.
@safe
final class SQLiteStatement {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  func finalize() { unsafe sqlite3_finalize(handle) }

  func bind(_ index: CInt, _ value: SQLiteValue) -> CInt {
    switch value {
    case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
    // No bytes at a null address would be a null.
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

  func bytes(_ column: CInt) -> [UInt8] {
    // In this order, as SQLite may convert the value first.
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Makes SQLite copy the bytes (`SQLITE_TRANSIENT`, which is a macro).
  private static var copying: sqlite3_destructor_type {
    unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }
}
