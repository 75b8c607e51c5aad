#if RecordPreferences
internal import GRDB
internal import Prephirences

/// The row of a record during one access to the database.
struct RecordRow {
  typealias Assignment = (column: RecordColumn, cell: DatabaseValue)

  private let database: Database
  private let record: ManagedRecord
  private let keys: [String]
  let columns: [RecordColumn]

  init(_ record: ManagedRecord, _ database: Database) throws {
    guard try database.tableExists(record.table) else {
      throw PreferencesError(.notFound, "there is no table '\(record.table)'")
    }
    let keys = try database.primaryKey(record.table).columns
    guard keys.count == record.key.count else {
      throw PreferencesError(
        .typeMismatch, "the primary key of '\(record.table)' has \(keys.count) columns")
    }
    columns = try database.columns(in: record.table).map { column in
      RecordColumn(column, isKey: keys.contains(column.name))
    }
    self.database = database
    self.record = record
    self.keys = keys
  }

  func column(_ name: PreferenceKey) throws -> RecordColumn {
    guard let column = columns.first(where: { $0.name == name }) else {
      throw PreferencesError(
        .unknownKey, "the table '\(record.table)' has no column '\(name)'")
    }
    return column
  }

  func values() throws -> PreferencesDictionary {
    guard
      let row = try Row.fetchOne(
        database, sql: "SELECT * FROM \(quoted(record.table)) WHERE \(condition)",
        arguments: StatementArguments(record.key))
    else { return [:] }
    return columns.reduce(into: [:]) { values, column in
      let cell: DatabaseValue? = row[column.name]
      values[column.name] = cell.flatMap(column.value)
    }
  }

  func value(of column: RecordColumn) throws -> Any? {
    let cell = try DatabaseValue.fetchOne(
      database,
      sql: "SELECT \(quoted(column.name)) FROM \(quoted(record.table)) WHERE \(condition)",
      arguments: StatementArguments(record.key))
    return cell.flatMap(column.value)
  }

  func update(_ cells: [Assignment]) throws {
    guard !cells.isEmpty else { return }
    let assignments = cells.map { "\(quoted($0.column.name)) = ?" }.joined(separator: ", ")
    try database.execute(
      sql: "UPDATE \(quoted(record.table)) SET \(assignments) WHERE \(condition)",
      arguments: StatementArguments(cells.map(\.cell) + record.key))
    guard database.changesCount > 0 else {
      throw PreferencesError(.notFound, "the row of the table '\(record.table)' is gone")
    }
  }

  private var condition: String {
    keys.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")
  }

  private func quoted(_ name: String) -> String { name.quotedDatabaseIdentifier }
}
#endif
