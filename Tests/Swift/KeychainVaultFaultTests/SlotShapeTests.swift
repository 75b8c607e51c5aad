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

  private static let changes: [(String, @Sendable (SlotRow) throws -> SlotRow)] = [
    ("one byte of parameters", { try $0.with(parameters: Data(count: 1)) }),
    ("31 bytes of parameters", { try $0.with(parameters: Data(count: 31)) }),
    ("a salt too short", { try $0.with(salt: $0.salt.dropLast()) }),
    ("a salt too long", { try $0.with(salt: $0.salt + [0]) }),
    ("a commitment too short", { try $0.with(commitment: $0.commitment.dropLast()) }),
    ("a commitment too long", { try $0.with(commitment: $0.commitment + [0]) }),
    ("no commitment", { try $0.with(commitment: Data()) }),
    ("a box too short", { try $0.with(box: $0.box.dropLast()) }),
    ("a box too long", { try $0.with(box: $0.box + [0]) }),
    ("an administration key too short", { try $0.with(made: $0.made.dropLast()) }),
    ("an administration key too long", { try $0.with(made: $0.made + [0]) }),
  ]

  @Test(arguments: changes.indices, 1...5)
  func aColumnHasAnotherLength(_ change: Int, _ number: Int) throws {
    try replace(number, Self.changes[change].1)
    try expectDamage(of: number)
  }

  private static let costs: [(UInt64, UInt32)] = [
    ((64 << 10) + 512, 1), (1 << 40, 1), ((1 << 30) + 1024, 1), (4096, 1), (0, 1), (64 << 10, 0),
    (64 << 10, 11),
  ]

  @Test(arguments: costs)
  func thePasswordHashHasLimits(_ memory: UInt64, _ passes: UInt32) throws {
    let parameters = PasswordHash.Parameters(memory: memory, passes: passes)
    try replace(1) { try $0.with(parameters: parameters.encoded) }
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

  private func replace(_ number: Int, _ change: (SlotRow) throws -> SlotRow) throws {
    try vault.changeSlot(number, change)
  }
}
