import Foundation
import GRDB
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// The sum of a slot needs no key, so anyone can create slots of any shape with a valid sum: they
/// open nothing, and do not prevent opening the vault with another slot.
@Suite("Slots of no shape that a writer makes")
struct SlotShapeTests {
  /// A vault with slots of all kinds; the slot numbers are the numbers of the kinds.
  private let vault: TestVault
  private let code: String
  private let identity: String

  init() throws {
    vault = try TestVault()
    let owner = vault.handle(passphrase: TestVault.passphrase)
    identity = try vault.identity("alice").path
    let keyFile = try vault.file("key", String(repeating: "k", count: 32))
    try owner.create(
      passphrase: SecretBytes(copying: TestVault.passphrase), keyFile: nil, device: false)
    try owner.addKeyFileSlot(path: keyFile)
    try owner.addDeviceSlot()
    code = try vault.addRecoveryCode(passphrase: TestVault.passphrase)
    try owner.addRecipientSlot(owner.identity(at: identity).recipient)
    try owner.put("a", "one")
    #expect(try owner.slots().map { $0.kind.rawValue } == [1, 2, 3, 4, 5])
  }

  private static let changes: [(String, @Sendable (SlotRow) -> SlotRow)] = [
    ("one byte of parameters", { $0.with(parameters: Data(count: 1)) }),
    ("31 bytes of parameters", { $0.with(parameters: Data(count: 31)) }),
    ("a salt too short", { $0.with(salt: $0.salt.dropLast()) }),
    ("a salt too long", { $0.with(salt: $0.salt + [0]) }),
    ("a commitment too short", { $0.with(commitment: $0.commitment.dropLast()) }),
    ("a commitment too long", { $0.with(commitment: $0.commitment + [0]) }),
    ("no commitment", { $0.with(commitment: Data()) }),
    ("a box too short", { $0.with(box: $0.box.dropLast()) }),
    ("a box too long", { $0.with(box: $0.box + [0]) }),
    ("a mac too short", { $0.with(mac: $0.mac.dropLast()) }),
    ("a mac too long", { $0.with(mac: $0.mac + [0]) }),
  ]

  @Test(arguments: changes.indices, 1...5)
  func aColumnHasAnotherLength(_ change: Int, _ number: Int) throws {
    try replace(number, Self.changes[change].1)
    try expectDamage(of: number)
  }

  /// Its box is valid under its own header; only the grant of T0 is wrong.
  @Test(arguments: [1, 2, 4])
  func onlyDeviceSlotMayOpenTheOpenTier(_ number: Int) throws {
    let admin = try vault.handle(passphrase: TestVault.passphrase).administration()
    let input: SlotInput
    switch number {
    case 1:
      input = try .passphrase(
        SecretBytes(copying: TestVault.passphrase), .init(memory: 64 << 10, passes: 1))
    case 2: input = try .keyFile(SecretBytes(copying: String(repeating: "k", count: 32)))
    default: input = try .recoveryCode(RecoveryCode(text: SecretBytes(copying: code)))
    }
    let slot = try SlotSealing.seal(
      input, number: UInt32(number), grant: .openTier, granted: admin.keys.open.bytes,
      root: admin.root.bytes)
    try replace(number) { _ in slot }
    try expectDamage(of: number)
  }

  private static let costs: [(UInt64, UInt32)] = [
    ((64 << 10) + 512, 1), (1 << 40, 1), ((1 << 30) + 1024, 1), (4096, 1), (0, 1), (64 << 10, 0),
    (64 << 10, 11),
  ]

  @Test(arguments: costs)
  func thePasswordHashHasLimits(_ memory: UInt64, _ passes: UInt32) throws {
    let parameters = PasswordHash.Parameters(memory: memory, passes: passes)
    try replace(1) { $0.with(parameters: parameters.encoded) }
    let start = ContinuousClock.now
    try expectDamage(of: 1)
    #expect(ContinuousClock.now - start < .seconds(30))
  }

  @Test func aSumThatDiffersIsDamage() throws {
    try vault.tamper { try $0.execute(sql: "UPDATE slot SET sum = zeroblob(16) WHERE number = 2") }
    try expectDamage(of: 2)
    try vault.tamper { try $0.execute(sql: "UPDATE slot SET sum = x'' WHERE number = 2") }
    try expectDamage(of: 2)
  }

  private func handle(_ number: Int) throws -> Vault {
    switch number {
    case 1: vault.handle(passphrase: TestVault.passphrase)
    case 2:
      vault.handle {
        $0.unlock = .keyFile(vault.folder.path + "/key", named: "the test")
      }
    case 3: vault.handle()
    case 4: vault.handle(recoveryCode: code)
    default: vault.handle(identity: identity)
    }
  }

  private func expectDamage(of number: Int) throws {
    for other in [1, 2, 4, 5] where other != number {
      let handle = try handle(other)
      #expect(try handle.text("a") == "one")
      #expect(try handle.status().damagedSlots == [UInt32(number)])
      let problems = try handle.verify().problems
      #expect(problems.contains { $0.contains("slot \(number) is damaged") })
      expect(.damaged) { try handle.removeSlot(UInt32(other)) }
    }
    if number != 3 { expect(.damaged) { try handle(number).text("a") } }
    // Whether it would have opened the damaged slot is unknown.
    expect(.damaged) { try vault.handle(passphrase: "wrong").text("a") }
  }

  /// Replaces a slot by another, with a valid sum.
  private func replace(_ number: Int, _ change: (SlotRow) -> SlotRow) throws {
    let queue = try vault.rawDatabase()
    defer { try? queue.close() }
    try queue.write { database in
      let rows = SQLiteVaultRows(database: database, path: vault.path)
      let slot = try #require(try rows.slots().intact.first { $0.number == number })
      var changed = change(slot)
      changed.sum = try changed.expectedSum()
      try rows.removeSlot(slot.number)
      try rows.put(changed)
    }
  }
}

extension SlotRow {
  fileprivate func with(
    parameters: Data? = nil, salt: Data? = nil, commitment: Data? = nil, box: Data? = nil,
    mac: Data? = nil
  ) -> SlotRow {
    SlotRow(
      number: number, kind: kind, grant: grant, parameters: parameters ?? self.parameters,
      salt: salt ?? self.salt, commitment: commitment ?? self.commitment, box: box ?? self.box,
      mac: mac ?? self.mac)
  }
}
