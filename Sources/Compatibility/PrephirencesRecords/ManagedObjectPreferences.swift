#if RecordPreferences
public import GRDB
internal import PrephirencesSystem

/// The columns of a database row as read-only preferences.
///
/// ```swift
/// let settings = ManageObjectPreferences(ManagedRecord(in: database, table: "settings", key: 1))
/// let theme = settings["theme"] as? String
/// ```
///
/// A column that is `NULL` has no value. The declared types of the columns determine the types of
/// the values: `BOOLEAN` becomes `Bool`; `DATE`, `TIME` and similar types become `Date`. Each
/// access reads the database again.
///
/// A failed read returns `nil`; ``lastError`` and ``value(forKey:)`` have the reason. It is safe to
/// use from several threads.
open class ManageObjectPreferences: PreferencesAdapter, @unchecked Sendable {
  /// The row.
  public let record: ManagedRecord

  private let failure = PosixMutex<(any Error)?>(nil)

  /// Reads preferences from a row.
  public init(_ record: ManagedRecord) {
    self.record = record
  }

  /// Reads preferences from the row with the primary key of a record.
  ///
  /// - Throws: The database's errors, and those of the record's encoding.
  public convenience init(
    _ record: some FetchableRecord & PersistableRecord, in database: any DatabaseReader
  ) throws {
    self.init(try ManagedRecord(record, in: database))
  }

  /// The last failure; `nil` if there was none.
  public var lastError: (any Error)? { failure.withLock(\.self) }

  /// The last failure as an error of preferences.
  public var lastPreferencesError: PreferencesError? {
    lastError.map { .converting($0, "the row could not be read or changed") }
  }

  /// Returns the value of a column, or `nil` if it is `NULL` or the row does not exist.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unknownKey`` if the column does
  ///   not exist, or the database's errors.
  public func value(forKey key: PreferenceKey) throws -> PreferenceObject? {
    try read { row in try row.value(of: row.column(key)) }
  }

  /// Returns the names of the columns.
  open func keys() -> [String] { noting { try read { $0.columns.map(\.name) } } ?? [] }

  /// Returns the value of a column.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    noting { try value(forKey: key) } ?? nil
  }

  /// Returns the values of all columns, read in one transaction.
  open func dictionary() -> PreferencesDictionary { noting { try read { try $0.values() } } ?? [:] }

  private func read<Value>(_ body: (RecordRow) throws -> Value) throws -> Value {
    // Reentrant, because a program may use preferences while it uses the database.
    try record.database.unsafeReentrantRead { try body(RecordRow(record, $0)) }
  }

  @discardableResult
  func noting<Value>(_ body: () throws -> Value) -> Value? {
    do {
      return try body()
    } catch {
      failure.withLock { $0 = error }
      return nil
    }
  }
}

/// An alias with the correct spelling.
public typealias ManagedObjectPreferences = ManageObjectPreferences
#endif
