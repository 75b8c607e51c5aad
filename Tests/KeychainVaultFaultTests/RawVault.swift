import Foundation
import GRDB
import KeychainVaultTesting

extension TestVault {
  /// Changes the database of a vault without its keys, as anybody can who may write the file.
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
