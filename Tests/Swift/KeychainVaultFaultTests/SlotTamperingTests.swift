import Foundation
import GRDB
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// Changes of slots and of the list of members by an attacker who can write the file but has no key.
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
    try vault.changeSlot(2) {
      try $0.with(parameters: PasswordHash.Parameters(memory: memory, passes: 1).encoded)
    }
    let start = ContinuousClock.now
    expect(.damaged) { try vault.handle(passphrase: TestVault.passphrase).text("a") }
    #expect(ContinuousClock.now - start < .seconds(30))
    #expect(try vault.handle().verify().isIntact == false)
  }

  @Test func anUnlistedSlotOpensNothing() throws {
    try copySlot(as: 0x10)
    try vault.changeRows { rows in
      try rows.put(rows.slots().intact[0].with(number: 0x20))
    }
    #expect(try vault.handle().text("a") == "one")
    #expect(try vault.handle().verify().problems.count == 2)
    try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
    // A change of members removes what the list does not have.
    #expect(try vault.handle().slots().map(\.number) == [1, 2])
    #expect(try vault.handle(passphrase: TestVault.passphrase).verify().problems == [])
  }

  @Test func aSlotUnderAnotherNumberIsRefused() throws {
    try vault.changeRows { rows in
      let slot = try rows.slots().intact[0]
      try rows.removeSlot(1)
      try rows.put(slot.with(number: 2))
    }
    expect(.locked) { try vault.handle().text("a") }
  }

  @Test func slotOfAnotherVaultIsRefused() throws {
    try vault.tamper { try $0.execute(sql: "DELETE FROM slot") }
    try copySlot(as: 1)
    // The slot's keys are bound to its vault, so the device secret does not even fit.
    expect(.locked) { try vault.handle().text("a") }
    expect(.locked) { try vault.handle().put("a", "two") }
  }

  @Test(arguments: ["slot", "members", "state", "head", "chain", "item_node", "token_node"])
  func aTableIsEmptied(_ table: String) throws {
    try vault.tamper { try $0.execute(sql: "DELETE FROM \(table)") }
    let isRead = ["chain", "token_node"].contains(table)
    let found = Result { try vault.handle().text("a") }
    #expect((try? found.get()) == (isRead ? "one" : nil))
    if !isRead {
      expect(.damaged) { try vault.handle().text("a") }
      expect(.damaged) { try vault.handle().put("a", "two") }
    }
    #expect((try? vault.handle().verify().isIntact) != true)
  }

  @Test func thirtyThreeSlots() throws {
    try vault.tamper { database in
      for number in 2...33 {
        try database.execute(
          sql: """
            INSERT INTO slot SELECT \(number), kind, granted, parameters, salt, made, commitment,
            box, sum FROM slot WHERE number = 1
            """)
      }
    }
    expect(.damaged) { try vault.handle().text("a") }
  }

  /// A slot that was removed while the keys were kept, with the list that had it.
  @Test(arguments: [true, false])
  func aRemovedSlotIsPutBack(_ withList: Bool) throws {
    try vault.handle().addPassphraseSlot(SecretBytes(copying: "first"))
    try vault.handle(passphrase: "first").addPassphraseSlot(SecretBytes(copying: "second"))
    let old = vault.folder.path + "/old.db"
    try FileManager.default.copyItem(atPath: vault.path, toPath: old)
    try vault.handle(passphrase: "first").removeSlot(3, keepingKeys: true)
    try vault.tamper { database in
      try database.execute(sql: "ATTACH ? AS old", arguments: [old])
      try database.execute(sql: "INSERT INTO slot SELECT * FROM old.slot WHERE number = 3")
      guard withList else { return }
      try database.execute(
        sql: "DELETE FROM members; INSERT INTO members SELECT * FROM old.members")
    }
    expect(withList ? .rolledBack : .damaged) { try vault.handle(passphrase: "second").text("a") }
    if withList {
      expect(.rolledBack) { try vault.handle(passphrase: "first").text("a") }
    } else {
      #expect(try vault.handle(passphrase: "first").text("a") == "one")
      #expect(try vault.handle(passphrase: "first").verify().problems.count == 1)
      try vault.handle(passphrase: "first").rekey { plan in
        plan.kept.map(\.number) == [1, 2]
      }
      expect(.incorrectSecret) { try vault.handle(passphrase: "second").text("a") }
    }
  }

  @Test(arguments: ["id", "check0", "check1", "check2", "administration", "mac0", "mac1", "mac2"])
  func aColumnOfTheHeadIsChanged(_ column: String) throws {
    try vault.changeRows { rows in
      let head = try rows.headRow()
      func bytes(_ name: String, _ old: Data) -> Data {
        name == column ? Data(repeating: 7, count: old.count) : old
      }
      let changed = try HeadRow(
        id: VaultID(bytes: bytes("id", head.id.bytes)), epoch: head.epoch,
        checks: VaultChecks(
          open: bytes("check0", head.checks.open), first: bytes("check1", head.checks.first),
          unlocked: bytes("check2", head.checks.unlocked)),
        parameters: head.parameters,
        administration: bytes("administration", head.administration),
        macs: head.macs.indices.map { bytes("mac\($0)", head.macs[$0]) },
        generation: head.generation)
      try rows.put(changed)
    }
    // The id and the administration key are seen to be others before anything is opened.
    let code: KeychainError.Code =
      ["id", "administration"].contains(column) ? .rolledBack : .damaged
    expect(code) { try vault.handle().text("a") }
    expect(code) { try vault.handle().put("a", "two") }
  }

  @Test(arguments: [("epoch", 2), ("generation", 2), ("epoch", 0), ("generation", 0)])
  func aNumberOfTheHeadIsChanged(_ column: String, _ value: Int) throws {
    try vault.changeRows { rows in
      let head = try rows.headRow()
      try rows.put(
        HeadRow(
          id: head.id, epoch: column == "epoch" ? UInt64(value) : head.epoch,
          checks: head.checks, parameters: head.parameters, administration: head.administration,
          macs: head.macs, generation: column == "epoch" ? head.generation : UInt64(value)))
    }
    expect(.damaged) { try vault.handle().text("a") }
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
    try vault.changeRows { try $0.put(slot.with(number: number)) }
  }
}
