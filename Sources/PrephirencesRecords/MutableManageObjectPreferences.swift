internal import GRDB

/// The columns of one row of a database as preferences.
///
/// Setting a value updates its column in a transaction of its own; `nil` makes it `NULL`. What the
/// column does not take, by its declared type or by a constraint, changes nothing;
/// ``setValue(_:forKey:)`` and ``ManageObjectPreferences/lastError`` say why. The row is never made
/// or removed.
open class MutableManageObjectPreferences: ManageObjectPreferences, MutablePreferencesType,
  @unchecked Sendable
{
  private let writer: (any DatabaseWriter)?

  /// Reads and changes a row.
  ///
  /// - Parameter record: The row; changes fail if its database can only be read.
  public override init(_ record: ManagedRecord) {
    writer = record.database as? any DatabaseWriter
    super.init(record)
  }

  /// Sets the value of a column; `nil` makes it `NULL`.
  open func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    noting { try setValue(value, forKey: key) }
  }

  /// Sets the value of a column.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` makes it `NULL`.
  ///   - key: The name of the column.
  /// - Throws: ``PreferencesError``: ``PreferencesError/Code/unknownKey``,
  ///   ``PreferencesError/Code/typeMismatch`` or ``PreferencesError/Code/notFound`` if there is no
  ///   such row; or what the database throws, as for `NULL` where it must not be.
  public func setValue(_ value: PreferenceObject?, forKey key: PreferenceKey) throws {
    try setValues([key: value as Any])
  }

  /// Sets the values of several columns, all of them or none.
  ///
  /// - Parameter values: The values by the names of their columns.
  /// - Throws: As ``setValue(_:forKey:)``.
  public func setValues(_ values: PreferencesDictionary) throws {
    try write { row in
      try values.map { key, value in
        let column = try row.column(key)
        return (column, try unwrapped(value).map(column.cell) ?? .null)
      }
    }
  }

  /// Makes a column `NULL`.
  open func removeObject(forKey key: PreferenceKey) { set(nil as PreferenceObject?, forKey: key) }

  /// Sets the values of several columns, all of them or none; others stay as they are.
  open func set(dictionary: PreferencesDictionary) {
    noting { try setValues(withoutNulls(dictionary)) }
  }

  /// Takes note of a value that a transformation refused, as ``ManageObjectPreferences/lastError``.
  open func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    noting { throw error }
  }

  /// Makes all columns `NULL` that may be.
  open func clearAll() {
    noting {
      try write { row in row.columns.filter(\.isNullable).map { ($0, .null) } }
    }
  }

  /// Sets columns in a transaction, and tells the observers when it is over.
  private func write(_ body: (RecordRow) throws -> [RecordRow.Assignment]) throws {
    guard let writer else {
      throw PreferencesError(.inputOutput, "the database can only be read")
    }
    var changes: [PreferenceChange] = []
    try writer.unsafeReentrantWrite { database in
      // A transaction, or a part of the one that the program is just in.
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

/// The same under the name that it means.
public typealias MutableManagedObjectPreferences = MutableManageObjectPreferences
