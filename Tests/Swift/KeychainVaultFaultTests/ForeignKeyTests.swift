import Foundation
import GRDB
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// Two vaults are unlocked for all programs of the user; an attacker who can write the file of one
/// copies checks of the other into it.
///
/// Needs the kernel's keyring, and fails without it.
@Suite("Keys of another vault")
struct ForeignKeyTests {
  private let mine: TestVault
  private let other: TestVault

  init() throws {
    mine = try Self.unlockedVault()
    other = try Self.unlockedVault()
  }

  private static func unlockedVault() throws -> TestVault {
    let vault = try TestVault()
    let handle = vault.handle(passphrase: TestVault.passphrase)
    for accessibility in Accessibility.allCases {
      try handle.put("\(accessibility)", "secret", accessibility)
    }
    try handle.unlock()
    return vault
  }

  @Test(arguments: [true, false])
  func noChecksButItsOwnAreBelieved(_ hasDeviceSlot: Bool) throws {
    if !hasDeviceSlot {
      try mine.handle(passphrase: TestVault.passphrase).removeSlot(1, keepingKeys: true)
    }
    let own = try mine.checks()
    let forgeries = try Self.forgeries(own, other.checks())
    try #require(forgeries.count == 17)
    let box: Data? = try mine.raw("SELECT box FROM state")
    for forgery in forgeries {
      try mine.setChecks(forgery)
      for accessibility in Accessibility.allCases {
        refuses { try mine.handle().put("new", "secret", accessibility) }
        refuses { try mine.handle().put("\(accessibility)", "new", accessibility) }
        refuses { try mine.handle().text("\(accessibility)") }
      }
      refuses { try mine.handle().search(CredentialQuery()) }
      refuses { try mine.handle().remove(.test("always")) }
      #expect(try mine.raw("SELECT box FROM state") == box)
    }
    try mine.setChecks(own)
    #expect(try mine.handle().text("whenUnlocked") == "secret")
    #expect(try mine.handle().text("new") == nil)
    #expect(try mine.handle().verify().isIntact)
  }

  /// The keys of the row's first check are present, so the vault is not merely locked.
  @Test(arguments: [1, 2])
  func aCheckOfTheOtherVaultIsDamage(_ tier: Int) throws {
    var checks = try mine.checks()
    checks[tier] = try other.checks()[tier]
    try mine.setChecks(checks)
    let failure = #expect(throws: KeychainError.self) {
      try mine.handle().put("new", "secret", tier == 1 ? .afterFirstUnlock : .whenUnlocked)
    }
    #expect(failure?.code == .damaged)
  }

  @Test(arguments: [0, 1, 2])
  func whatIsPresentedYieldsAllChecks(_ tier: Int) throws {
    let held = mine.handle(passphrase: TestVault.passphrase)
    #expect(try held.text("whenUnlocked") == "secret")
    let handles = try [held, mine.handle(passphrase: TestVault.passphrase)] + otherWays()
    let own = try mine.checks()
    var checks = own
    checks[tier] = try other.checks()[tier]
    try mine.setChecks(checks)
    for handle in handles {
      refuses { try handle.text("whenUnlocked") }
      refuses { try handle.put("new", "secret") }
      refuses { try handle.unlock() }
      refuses { try handle.rekey { _ in true } }
    }
    try mine.setChecks(own)
    for handle in handles { #expect(try handle.text("whenUnlocked") == "secret") }
  }

  private func otherWays() throws -> [Vault] {
    let handle = mine.handle(passphrase: TestVault.passphrase)
    let key = try mine.file("key", String(repeating: "k", count: 32))
    try handle.addKeyFileSlot(path: key)
    let identity = mine.folder.path + "/identity"
    let recipient = try handle.createIdentity(at: identity).recipient
    try handle.addRecipientSlot(recipient)
    let code = try mine.addRecoveryCode(passphrase: TestVault.passphrase)
    return [
      mine.handle { $0.unlock = .keyFile(key) }, mine.handle(identity: identity),
      mine.handle(recoveryCode: code),
    ]
  }

  /// Both vaults have the same passphrase.
  @Test func foreignSlotDoesNotBlockUnlocking() throws {
    let theirs = try other.readRows { try $0.slots().intact.first { $0.kind == .passphrase } }
    try mine.changeRows { try $0.put(try #require(theirs).with(number: 9)) }
    let handle = mine.handle(passphrase: TestVault.passphrase)
    #expect(try handle.text("whenUnlocked") == "secret")
    try handle.unlock()
    try mine.tamper { try $0.execute(sql: "DELETE FROM slot WHERE kind = 1 AND number < 9") }
    expect(.incorrectSecret) {
      try mine.handle(passphrase: TestVault.passphrase).text("whenUnlocked")
    }
  }

  @Test(arguments: [0, 1, 2])
  func lockForgetsTheKeysOfAnAlteredRow(_ tier: Int) throws {
    let own = try mine.checks()
    var checks = own
    checks[tier] = Data(repeating: 7, count: 16)
    try mine.setChecks(checks)
    try mine.handle().lock(all: true)
    try mine.setChecks(own)
    expectLocked()
  }

  @Test func lockForgetsKeysOfMissingVault() throws {
    try FileManager.default.moveItem(atPath: mine.path, toPath: mine.path + ".away")
    try mine.handle().lock(all: true)
    try FileManager.default.moveItem(atPath: mine.path + ".away", toPath: mine.path)
    expectLocked()
  }

  @Test func lockForgetsKeysOfUnreadableVault() throws {
    let own: Data? = try mine.raw("SELECT sum FROM head")
    try mine.tamper { try $0.execute(sql: "UPDATE head SET sum = x'00'") }
    expect(.damaged) { try mine.handle().lock(all: true) }
    try mine.tamper { try $0.execute(sql: "UPDATE head SET sum = ?", arguments: [own]) }
    expectLocked()
  }

  /// Otherwise nothing would refer to them.
  @Test(arguments: [true, false])
  func replacedVaultsKeysAreForgotten(_ isRestored: Bool) throws {
    let row = try mine.readRows { try $0.headRow() }
    let cache = UnlockCache(idleTime: .seconds(60))
    for tier in Tier.allCases { #expect(try cache.key(tier, of: row) != nil) }
    try FileManager.default.removeItem(atPath: mine.path)
    if isRestored {
      try FileManager.default.copyItem(atPath: other.path, toPath: mine.path)
      expect(.rolledBack) { try mine.handle().text("whenUnlocked") }
      let handle = mine.handle(passphrase: TestVault.passphrase)
      #expect(try handle.acceptRestored { $0.isOtherVault })
      #expect(try mine.handle().text("whenUnlocked") == "secret")
    } else {
      try mine.handle().create(passphrase: nil, keyFile: nil, device: true, startingAnew: true)
    }
    for tier in Tier.allCases { #expect(try cache.key(tier, of: row) == nil) }
  }

  private func expectLocked() {
    for name in ["whenUnlocked", "afterFirstUnlock"] {
      expect(.locked) { try mine.handle().text(name) }
    }
    #expect(throws: Never.self) { try other.handle().text("whenUnlocked") }
  }

  private func refuses(_ call: () throws -> Any?) {
    let failure = #expect(throws: KeychainError.self) { _ = try call() }
    // An identity is pinned to the first check.
    #expect([.damaged, .locked, .rolledBack].contains(failure?.code), "\(failure as Any)")
  }

  /// Returns all mixtures of two vaults' checks, and all orders of each vault's checks, except the
  /// correct ones.
  private static func forgeries(_ own: [Data], _ other: [Data]) -> Set<[Data]> {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    var forgeries: Set<[Data]> = []
    for order in orders {
      forgeries.insert(order.map { own[$0] })
      forgeries.insert(order.map { other[$0] })
    }
    for mixture in 0..<8 {
      forgeries.insert((0..<3).map { mixture >> $0 & 1 == 0 ? own[$0] : other[$0] })
    }
    forgeries.remove(own)
    return forgeries
  }
}

extension TestVault {
  fileprivate func checks() throws -> [Data] {
    let checks = try readRows { try $0.headRow().checks }
    return Tier.allCases.map { checks[$0] }
  }

  /// Writes checks to the vault's head, with a valid sum.
  fileprivate func setChecks(_ checks: [Data]) throws {
    try changeRows { rows in
      let head = try rows.headRow()
      try rows.put(
        HeadRow(
          id: head.id, epoch: head.epoch,
          checks: VaultChecks(open: checks[0], first: checks[1], unlocked: checks[2]),
          parameters: head.parameters, administration: head.administration, macs: head.macs,
          generation: head.generation))
    }
  }
}
