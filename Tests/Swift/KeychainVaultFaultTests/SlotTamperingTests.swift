import Foundation
import GRDB
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// Changes of slots by an attacker who can write the file but has no key.
@Suite("Slots are changed outside the vault")
struct SlotTamperingTests {
  private let vault: TestVault

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "one", .whenUnlocked)
  }

  /// The sum has no key, so the memory limit must not depend on it.
  @Test(arguments: [UInt64(1) << 40, (1 << 30) + 1024, 0] as [UInt64])
  func aPassphraseSlotAsksForAbsurdMemory(_ memory: UInt64) throws {
    try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
    try vault.changeSlot(2) { slot in
      SlotRow(
        number: slot.number, kind: slot.kind, grant: slot.grant,
        parameters: PasswordHash.Parameters(memory: memory, passes: 1).encoded, salt: slot.salt,
        commitment: slot.commitment, box: slot.box, mac: slot.mac)
    }
    let start = ContinuousClock.now
    expect(.damaged) { try vault.handle(passphrase: TestVault.passphrase).text("a") }
    #expect(ContinuousClock.now - start < .seconds(30))
    #expect(try vault.handle().verify().isIntact == false)
  }

  @Test func aSlotOfAnotherVaultIsAdded() throws {
    try copySlot(as: 0x10)
    try moveSlot(1, to: 0x20)
    #expect(try vault.handle().text("a") == "one")
    #expect(try vault.handle().verify().isIntact == false)
    expect(.damaged) {
      try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
    }
    #expect(try vault.handle().text("a") == "one")
  }

  @Test func slotOfAnotherVaultIsRefused() throws {
    try vault.tamper { try $0.execute(sql: "DELETE FROM slot") }
    try copySlot(as: 1)
    expect(.damaged) { try vault.handle().text("a") }
    expect(.damaged) { try vault.handle().put("a", "two") }
  }

  @Test func allSlotsAreDropped() throws {
    try vault.tamper { try $0.execute(sql: "DELETE FROM slot") }
    expect(.damaged) { try vault.handle().text("a") }
    expect(.damaged) { try vault.handle().put("a", "two") }
  }

  @Test func thirtyThreeSlots() throws {
    try vault.tamper { database in
      for number in 2...33 {
        try database.execute(
          sql: """
            INSERT INTO slot SELECT \(number), kind, granted, parameters, salt, commitment, box, mac,
            sum FROM slot WHERE number = 1
            """)
      }
    }
    expect(.damaged) { try vault.handle().text("a") }
  }

  @Test(arguments: ["check0", "check1", "check2"])
  func aCheckIsChanged(_ column: String) throws {
    let data: [Data] = try ["check0", "check1", "check2"].map {
      $0 == column ? Data(count: 16) : try #require(try vault.raw("SELECT \($0) FROM vault"))
    }
    let row = try VaultRow(
      checks: VaultChecks(open: data[0], first: data[1], unlocked: data[2]))
    try vault.tamper { database in
      try database.execute(
        sql: "UPDATE vault SET check0 = ?, check1 = ?, check2 = ?, sum = ?",
        arguments: [data[0], data[1], data[2], row.sum])
    }
    expect(.damaged) { try vault.handle().text("a") }
    expect(.damaged) { try vault.handle().put("a", "two") }
  }

  /// Only a holder of the root key can create such a slot; a faulty writer could.
  @Test func fullDeviceAccessNextToPassphraseIsReported() throws {
    try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
    let handle = vault.handle(passphrase: TestVault.passphrase)
    #expect(try handle.verify().isIntact)
    let device = try #require(try handle.unlocker.device.find())
    let input = try SlotInput.device(device)
    try handle.administration().change { change throws(KeychainError) in
      try change.writer.put(
        try SlotSealing.seal(
          input, number: 7, grant: .root, granted: change.root.bytes, root: change.root.bytes))
    }
    #expect(try handle.verify().problems.count == 1)
    #expect(try handle.verify().problems.contains { $0.contains("slot 7") })
  }

  private func moveSlot(_ number: UInt32, to newNumber: UInt32) throws {
    let queue = try vault.rawDatabase()
    defer { try? queue.close() }
    try queue.write { database in
      let rows = SQLiteVaultRows(database: database, path: vault.path)
      for slot in try rows.slots().intact where slot.number == number {
        try rows.removeSlot(slot.number)
        try rows.put(slot.moved(to: newNumber))
      }
    }
  }

  /// Creates another vault of the same device, and copies its slot.
  private func copySlot(as number: UInt32) throws {
    let other = vault.folder.path + "/other.db"
    try vault.handle { $0.path = other }.put("x")
    let queue = try DatabaseQueue(path: other)
    let slot = try queue.read { database in
      try SQLiteVaultRows(database: database, path: other).slots().intact[0]
    }
    try queue.close()
    let target = try vault.rawDatabase()
    defer { try? target.close() }
    try target.write { database in
      try SQLiteVaultRows(database: database, path: vault.path).put(slot.moved(to: number))
    }
  }
}

extension SlotRow {
  /// Returns the slot with another number and a valid sum.
  fileprivate func moved(to number: UInt32) throws -> SlotRow {
    var slot = SlotRow(
      number: number, kind: kind, grant: grant, parameters: parameters, salt: salt,
      commitment: commitment, box: box, mac: mac)
    slot.sum = try slot.expectedSum()
    return slot
  }
}
