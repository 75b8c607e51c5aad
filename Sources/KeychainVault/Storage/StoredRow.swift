internal import Foundation
internal import GRDBSQLite
internal import KeychainCredentials
internal import KeychainVaultFormat

/// A row of a result, which is there until the next row is read.
///
/// Its columns are read from SQLite's statement itself, as GRDB's rows cost several times as much.
@safe
struct StoredRow {
  private let statement: OpaquePointer

  /// Names the row that a statement has just reached.
  @safe
  init(of statement: OpaquePointer) { unsafe self.statement = statement }

  func isNull(_ index: Int) -> Bool { type(index) == SQLITE_NULL }

  /// Returns the blob of a column.
  ///
  /// Another type there is damage.
  func blob(_ index: Int) throws(KeychainError) -> Data {
    guard type(index) == SQLITE_BLOB else { throw Self.damaged }
    let count = unsafe Int(sqlite3_column_bytes(statement, CInt(index)))
    guard count > 0 else { return Data() }
    guard let start = unsafe sqlite3_column_blob(statement, CInt(index)) else {
      throw KeychainError(.insufficientMemory, "there is not enough memory for the vault")
    }
    return unsafe Data(bytes: start, count: count)
  }

  func optionalBlob(_ index: Int) throws(KeychainError) -> Data? {
    isNull(index) ? nil : try blob(index)
  }

  func integer(_ index: Int) throws(KeychainError) -> Int64 {
    guard type(index) == SQLITE_INTEGER else { throw Self.damaged }
    return unsafe sqlite3_column_int64(statement, CInt(index))
  }

  /// The text of a column; `nil` for any other type.
  func text(_ index: Int) -> String? {
    guard type(index) == SQLITE_TEXT, let start = unsafe sqlite3_column_text(statement, CInt(index))
    else { return nil }
    return unsafe String(cString: start)
  }

  func accessibility(_ index: Int, of id: Data) throws(KeychainError) -> Accessibility {
    guard let value = UInt8(exactly: try integer(index)).flatMap(Accessibility.init(rawValue:))
    else { throw .damagedItem(ItemRow.name(of: id)) }
    return value
  }

  private func type(_ index: Int) -> CInt { unsafe sqlite3_column_type(statement, CInt(index)) }

  private static let damaged = KeychainError(.damaged, "a row of the vault is damaged")
}
