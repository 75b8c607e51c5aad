#if RecordPreferences
internal import GRDB

/// The columns of a database row as preferences.
///
/// Setting a value updates its column in a separate transaction; `nil` sets it to `NULL`. A value
/// that the column's declared type or a constraint refuses changes nothing; ``setValue(_:forKey:)``
/// and ``ManageObjectPreferences/lastError`` have the reason. The row is never created or removed.
open class MutableManageObjectPreferences: ManageObjectPreferences, MutablePreferencesType,
  @unchecked Sendable
{
  private let writer: (any DatabaseWriter)?

  /// Reads and changes a row; changes fail if its database is read-only.
  public override init(_ record: ManagedRecord) {
    writer = record.database as? any DatabaseWriter
    super.init(record)
  }

  /// Sets the value of a column; `nil` sets it to `NULL`.
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    noting { try setValue(value, forKey: key) }
  }

  /// Sets the value of a column; `nil` sets it to `NULL`.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unknownKey``,
  ///   ``PreferencesError/Code/typeMismatch``, or ``PreferencesError/Code/notFound`` if the row
  ///   does not exist; or the database's errors, for example if `NULL` is not allowed.
  public func setValue(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try setValues([key: value as Any])
  }

  /// Sets the values of several columns by name: all or none.
  ///
  /// - Throws: The errors of ``setValue(_:forKey:)``.
  public func setValues(_ values: PreferencesDictionary) throws {
    try write { row in
      try values.map { key, value in
        let column = try row.column(key)
        return (column, try unwrapped(value).map(column.cell) ?? .null)
      }
    }
  }

  /// Sets a column to `NULL`.
  open func removeObject(forKey key: PreferenceKey) { set(nil as PreferenceObject?, forKey: key) }

  /// Sets the values of several columns: all or none; other columns do not change.
  open func set(dictionary: PreferencesDictionary) {
    noting { try setValues(withoutNulls(dictionary)) }
  }

  /// Records a value that a transformation refused, as ``ManageObjectPreferences/lastError``.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    noting { throw error }
  }

  /// Sets all columns that allow it to `NULL`.
  open func clearAll() {
    noting {
      try write { row in row.columns.filter(\.isNullable).map { ($0, .null) } }
    }
  }

  /// Sets columns in a transaction, and then notifies the observers.
  private func write(_ body: (RecordRow) throws -> [RecordRow.Assignment]) throws {
    guard let writer else {
      throw PreferencesError(.inputOutput, "the database is read-only")
    }
    var changes: [PreferenceChange] = []
    try writer.unsafeReentrantWrite { database in
      // A transaction, or a savepoint in the program's present one.
      try database.inSavepoint {
        let row = try RecordRow(record, database)
        let assignments = try body(row)
        changes = try assignments.map { column, cell in
          PreferenceChange(
            column.name, from: try row.value(of: column), to: column.value(of: cell))
        }
        try row.update(assignments)
        return .commit
      }
    }
    for change in changes {
      notifyObservers(forKey: change.key, from: change.oldValue, to: change.newValue)
    }
  }
}

/// An alias with the correct spelling.
public typealias MutableManagedObjectPreferences = MutableManageObjectPreferences
#endif
