public import GRDB
internal import Synchronization

/// The columns of one row of a database as preferences that can only be read.
///
/// ```swift
/// let settings = ManageObjectPreferences(ManagedRecord(in: database, table: "settings", key: 1))
/// let theme = settings["theme"] as? String
/// ```
///
/// Columns without a value (`NULL`) have none. Values have the types that columns are declared with:
/// those of `BOOLEAN` are `Bool`, those of `DATE`, `TIME` and their kin `Date`. Each access reads the
/// database anew.
///
/// What fails reads as `nil`; ``lastError`` and ``value(forKey:)`` say why. Any number of threads may
/// use one at a time.
open class ManageObjectPreferences: PreferencesAdapter, @unchecked Sendable {
  /// The row.
  public let record: ManagedRecord

  private let failure = Mutex<(any Error)?>(nil)

  /// Reads preferences from a row.
  ///
  /// - Parameter record: The row.
  public init(_ record: ManagedRecord) {
    self.record = record
  }

  /// Reads preferences from the row of a record.
  ///
  /// - Parameters:
  ///   - record: The record; only its primary key is used.
  ///   - database: The database.
  /// - Throws: What the database throws, and what the record throws when it is encoded.
  public convenience init(
    _ record: some FetchableRecord & PersistableRecord, in database: any DatabaseReader
  ) throws {
    self.init(try ManagedRecord(record, in: database))
  }

  /// What failed last; `nil` if nothing did.
  public var lastError: (any Error)? { failure.withLock(\.self) }

  /// Returns the value of a column.
  ///
  /// - Parameter key: The name of the column.
  /// - Returns: The value; `nil` for `NULL`, and if there is no such row.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unknownKey`` for a column that is
  ///   missing, or what the database throws.
  public func value(forKey key: PreferenceKey) throws -> PreferenceObject? {
    try read { row in try row.value(of: row.column(key)) }
  }

  /// Returns the names of the columns.
  open func keys() -> [String] { noting { try read { $0.columns.map(\.name) } } ?? [] }

  /// Returns the value of a column.
  open func object(forKey key: PreferenceKey) -> PreferenceObject? {
    noting { try value(forKey: key) } ?? nil
  }

  /// Returns the values of all columns, as of one moment.
  open func dictionary() -> PreferencesDictionary { noting { try read { try $0.values() } } ?? [:] }

  private func read<Value>(_ body: (RecordRow) throws -> Value) throws -> Value {
    // Reentrant, as a program may use preferences while it uses the database.
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

/// The same under the name that it means.
public typealias ManagedObjectPreferences = ManageObjectPreferences
