import Foundation
import GRDB
import KeychainCredentials
import KeychainVaultTesting
import PrephirencesFiles

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

  /// Changes a slot.
  func changeSlot(_ number: Int, _ change: (SlotRow) throws -> SlotRow) throws {
    try changeRows { rows in
      for slot in try rows.slots().intact where slot.number == number {
        try rows.removeSlot(slot.number)
        try rows.put(change(slot))
      }
    }
  }

  /// Changes rows as the vault writes them, but without its keys.
  func changeRows(_ change: (SQLiteVaultRows) throws -> Void) throws {
    let queue = try rawDatabase()
    defer { try? queue.close() }
    try queue.write { try change(SQLiteVaultRows(database: $0, path: path)) }
  }

  /// Returns what the vault has in these rows.
  func readRows<Value>(_ read: (SQLiteVaultRows) throws -> Value) throws -> Value {
    let queue = try rawDatabase()
    defer { try? queue.close() }
    return try queue.read { try read(SQLiteVaultRows(database: $0, path: path)) }
  }

  /// Returns the keys that a handle holds, with what it checked.
  func keys(_ handle: Vault? = nil) throws -> TierKeys {
    let handle = handle ?? self.handle()
    let head = try handle.existingSession().readHead()
    return try handle.unlocker.keys(.nothing, head, path: path, Deadline(after: .seconds(60)))
  }

  /// Makes a state as a holder of T0 could.
  func forgeState(_ change: (inout VaultState) -> Void) throws {
    let keys = try keys()
    try changeRows { rows in
      let chained = try ChainedState.open(rows.stateBox(), under: keys.open.bytes)
      var state = chained.state
      change(&state)
      let forged = try ChainedState(state, after: chained.previous, signer: nil)
      try rows.putState(forged.sealed(under: keys.open.bytes))
      try rows.putChain(
        ChainEntry(forged).sealed(under: keys.open.bytes),
        at: Int64(ChainEntry.place(of: state.counter)))
    }
  }

  func rawDatabase() throws -> DatabaseQueue {
    var configuration = GRDB.Configuration()
    configuration.foreignKeysEnabled = false
    configuration.allowsUnsafeTransactions = true
    return try DatabaseQueue(path: path, configuration: configuration)
  }
}

extension SlotRow {
  /// Returns a slot with other columns and a valid sum.
  func with(
    number: UInt32? = nil, grant: SlotGrant? = nil, parameters: Data? = nil, salt: Data? = nil,
    made: Data? = nil, commitment: Data? = nil, box: Data? = nil
  ) throws -> SlotRow {
    let header = SlotHeader(
      number: number ?? self.number, kind: kind, parameters: parameters ?? self.parameters,
      salt: salt ?? self.salt, made: made ?? self.made)
    return try SlotRow(
      header: header, grant: grant ?? self.grant, commitment: commitment ?? self.commitment,
      box: box ?? self.box)
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
