internal import Foundation
internal import GRDB
internal import KeychainCredentials
internal import PrephirencesFiles
internal import Synchronization

/// The rows of a vault in an SQLite file.
final class SQLiteVaultStorage: VaultStorage {
  private let path: String
  private let sidecars: SidecarFiles
  private let queue: DatabaseQueue
  private let deadline: CurrentDeadline
  private let ledger: ItemLedger
  private let turn = ConnectionTurn()

  /// Whether the file had its tables when it was opened; once there, they stay.
  let hadTables: Bool

  /// Opens an existing file.
  ///
  /// Others may be able to read a backup.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/foreign``,
  ///   ``KeychainError/Code/unsupportedFormat`` or ``KeychainError/Code/damaged`` if it is not a
  ///   vault of this format, and the errors of ``SidecarFiles/check()``.
  init(
    path: String, ledger: ItemLedger, limitingMemory: Bool, isBackup: Bool = false,
    _ deadline: Deadline
  ) throws(KeychainError) {
    let current = CurrentDeadline(deadline)
    self.ledger = ledger
    self.path = path
    self.deadline = current
    sidecars = SidecarFiles(path, readers: isBackup ? .others : .owner)
    try sidecars.check()
    let tables = Tables()
    do {
      queue = try DatabaseQueue(
        path: path,
        configuration: Self.configuration(path, current, tables, limitingMemory: limitingMemory))
      hadTables = tables.areThere.withLock { $0 }
    } catch {
      throw SQLiteErrors.translate(error, path: path)
    }
  }

  func read<Result>(
    _ deadline: Deadline, _ body: (any VaultRows) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try transaction(.deferred, deadline) { rows throws(KeychainError) in (try body(rows), nil) }
  }

  func write<Result>(
    _ deadline: Deadline, keepingIf isKept: (Result) -> Bool,
    _ body: (any WritableVaultRows) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try transaction(.immediate, deadline, keepingIf: isKept) { rows throws(KeychainError) in
      guard ledger.isKept else { return (try body(rows), nil) }
      let record = WriteRecord(stateBefore: try? rows.stateBox())
      var rows = rows
      rows.record = record
      return (try body(rows), record)
    }
  }

  func compact(_ deadline: Deadline) throws(KeychainError) {
    try turn.take(path, deadline)
    defer { turn.end() }
    do {
      try queue.unsafeReentrantWrite { database in
        self.deadline.set(deadline)
        try sidecars.check()
        try database.execute(sql: "VACUUM; PRAGMA secure_delete = FAST")
      }
    } catch {
      throw SQLiteErrors.translate(error, path: path)
    }
  }

  private func transaction<Result>(
    _ kind: Database.TransactionKind, _ deadline: Deadline,
    keepingIf isKept: (Result) -> Bool = { _ in true },
    _ body: (SQLiteVaultRows) throws(KeychainError) -> (Result, WriteRecord?)
  ) throws(KeychainError) -> Result {
    try turn.take(path, deadline)
    defer { turn.end() }
    do {
      return try queue.unsafeReentrantWrite { database in
        // Set here and not earlier, because other threads wait for this connection.
        self.deadline.set(deadline)
        try sidecars.check()
        var result: (Result, WriteRecord?)?
        try database.inPreparedTransaction(kind) {
          let made = try body(SQLiteVaultRows(database: database, path: self.path))
          result = made
          return isKept(made.0) ? .commit : .rollback
        }
        guard let result else {
          throw KeychainError(.internalFailure, "a transaction ended without a result")
        }
        // Done here, where no other transaction of this connection can come between.
        if let record = result.1, isKept(result.0) { ledger.add(record) }
        return result.0
      }
    } catch {
      throw SQLiteErrors.translate(error, path: path)
    }
  }

  private static func configuration(
    _ path: String, _ deadline: CurrentDeadline, _ tables: Tables, limitingMemory: Bool
  ) -> Configuration {
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .callback { _ in
      // A transaction of this thread would wait for this call, and the call for it.
      guard !deadline.hasPassed, !RunningTransaction.isHere(path) else { return false }
      // A commit takes about as long, so the lock is rarely free while all who want it sleep.
      Deadline.pause(upTo: 2)
      return true
    }
    configuration.prepareDatabase { database in
      let areThere = try SQLiteSetup.prepare(database, limitingMemory: limitingMemory)
      tables.areThere.withLock { $0 = areThere }
    }
    return configuration
  }
}

/// What preparing a connection found.
private final class Tables: Sendable {
  let areThere = Mutex(false)
}

/// The deadline of the call that uses a connection now.
final class CurrentDeadline: Sendable {
  private let deadline: Mutex<Deadline>

  init(_ deadline: Deadline) { self.deadline = Mutex(deadline) }

  func set(_ deadline: Deadline) { self.deadline.withLock { $0 = deadline } }

  var hasPassed: Bool { deadline.withLock { $0.hasPassed } }
}

/// The failure of a commit that may have happened.
struct OpenCommit: Error {
  let cause: DatabaseError
}

extension Database {
  /// Runs a transaction as GRDB does, by statements that stay prepared.
  ///
  /// - Throws: ``OpenCommit`` if what it wrote may be there, or any other error if nothing is.
  fileprivate func inPreparedTransaction(
    _ kind: TransactionKind, _ body: () throws -> TransactionCompletion
  ) throws {
    try run("BEGIN \(kind.rawValue) TRANSACTION")
    let before = totalChangesCount
    do {
      if try body() == .commit {
        // A failure that was not thrown may have ended the transaction.
        guard isInsideTransaction else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
        do {
          return try run("COMMIT TRANSACTION")
        } catch let error as DatabaseError
          where SQLiteErrors.mayFollowCommit(error) && totalChangesCount != before
        {
          throw OpenCommit(cause: error)
        }
      }
    } catch {
      // The first error says what happened.
      try? rollback()
      throw error
    }
    try rollback()
  }
}
