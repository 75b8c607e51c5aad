#if RecordPreferences
public import GRDB

/// A row of a table; it is not copied from the database.
///
/// ```swift
/// let record = ManagedRecord(in: database, table: "settings", key: 1)
/// ```
public struct ManagedRecord: Sendable {
  /// The database.
  public let database: any DatabaseReader

  /// The name of the table.
  public let table: String

  /// The values of the primary key, column by column; for a table without a primary key, the row
  /// number.
  public let key: [DatabaseValue]

  /// Identifies a row, which need not exist.
  ///
  /// - Parameters:
  ///   - table: The name of the table.
  ///   - key: The values of the primary key in the order of its columns, or the row number.
  public init(
    in database: any DatabaseReader, table: String, key: any DatabaseValueConvertible...
  ) {
    self.database = database
    self.table = table
    self.key = key.map(\.databaseValue)
  }

  /// Identifies the row with the primary key of a record.
  ///
  /// - Throws: The database's errors, and those of the record's encoding.
  public init(
    _ record: some FetchableRecord & PersistableRecord, in database: any DatabaseReader
  ) throws {
    let table = type(of: record).databaseTableName
    let values = try record.databaseDictionary
    let columns = try database.read { try $0.primaryKey(table).columns }
    self.database = database
    self.table = table
    key = columns.map { column in
      values.first { $0.key.lowercased() == column.lowercased() }?.value ?? .null
    }
  }
}
#endif
