import Foundation
import GRDB
import KeychainVaultTesting

@testable import KeychainVault

extension TestVault {
  /// Changes a vault's database without its keys, as any program that can write the file could.
  func tamper(_ change: (Database) throws -> Void) throws {
    let queue = try rawDatabase()
    try queue.write(change)
    try queue.close()
  }

  /// Reads one value of the database.
  func raw<Value: DatabaseValueConvertible>(_ sql: String) throws -> Value? {
    let queue = try rawDatabase()
    defer { try? queue.close() }
    return try queue.read { try Value.fetchOne($0, sql: sql) }
  }

  /// Changes a slot, and gives it a valid sum.
  func changeSlot(_ number: Int, _ change: (SlotRow) -> SlotRow) throws {
    let queue = try rawDatabase()
    defer { try? queue.close() }
    try queue.write { database in
      let rows = SQLiteVaultRows(database: database, path: path)
      for slot in try rows.slots().intact where slot.number == number {
        var changed = change(slot)
        changed.sum = try changed.expectedSum()
        try rows.put(changed)
      }
    }
  }

  func rawDatabase() throws -> DatabaseQueue {
    var configuration = GRDB.Configuration()
    configuration.foreignKeysEnabled = false
    configuration.allowsUnsafeTransactions = true
    return try DatabaseQueue(path: path, configuration: configuration)
  }
}

/// Holds the write lock of a vault.
struct Holder {
  private let queue: DatabaseQueue

  init(_ vault: TestVault) throws {
    queue = try vault.rawDatabase()
    try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
  }

  func end() throws {
    try queue.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
  }
}
