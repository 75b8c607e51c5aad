import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesFiles
import Testing

@testable import KeychainVault

/// The slots that get the new root key determine what stays after a removal with new keys.
@Suite("Slots are removed with new keys")
struct RemovalWithNewKeysTests {
  private let vault: TestVault
  private let recoveryCode: String

  /// Creates a vault with slots 1 device, 2 and 3 passphrases "one" and "two", 4 recovery code.
  init() throws {
    vault = try TestVault()
    try vault.handle(passphrase: "one").put("a", "secret")
    try vault.handle(passphrase: "one").addPassphraseSlot(SecretBytes(copying: "two"))
    recoveryCode = try vault.addRecoveryCode(passphrase: "one")
  }

  private var handle: Vault { vault.handle(recoveryCode: recoveryCode) }

  @Test(arguments: [2, nil] as [UInt32?])
  func deviceOpensEverythingWithoutDailyKey(_ removed: UInt32?) throws {
    var shown: RekeyPlan?
    let report = try handle.rekey(removing: removed) { plan in
      shown = plan
      return true
    }
    #expect(shown == report.plan)
    #expect(report.plan.kept.map(\.number) == [1, 4])
    #expect(report.plan.kept.map(\.grant) == [.root, .root])
    #expect(try vault.handle().text("a") == "secret")
    #expect(try vault.handle().verify().isIntact)
  }

  @Test func deviceIsUnchangedIfDailyKeyStays() throws {
    let path = try vault.file("two", "two")
    let report = try handle.rekey(removing: 2, keeping: [.passphraseFile(path)]) { _ in
      Issue.record("nothing else goes")
      return false
    }
    #expect(report.plan.kept.map(\.grant) == [.openTier, .root, .root])
  }

  @Test func itemsThatNeedPassphraseGoWithLastOne() throws {
    try vault.handle(passphrase: "one").put("bound", "x", .whenPasscodeSetThisDeviceOnly)
    let error = failure { try handle.rekey(removing: 2) { _ in true } }
    #expect(error?.code == .refused && error?.message.contains("'bound'") == true)
    #expect(
      error?.recovery?.actions == [
        .keepSlot(.passphrase), .removeSlot(number: 2, deletingItems: true, withNewKeys: true),
      ])
    #expect(failure { try handle.rekey { _ in true } }?.code == .refused)
    var shown: RekeyPlan?
    try handle.rekey(removing: 2, deletingItems: true) { plan in
      shown = plan
      return true
    }
    #expect(shown?.deletedItems == [.test("bound")])
    #expect(try vault.handle().text("bound") == nil)
    #expect(try vault.handle().text("a") == "secret")
  }

  /// The removed slot need not be a passphrase itself.
  @Test func itemsGoWithAnySlotThatIsRemoved() throws {
    try vault.handle(passphrase: "one").put("bound", "x", .whenPasscodeSetThisDeviceOnly)
    let key = try vault.file("key", String(repeating: "k", count: 32))
    try vault.handle(passphrase: "one").addKeyFileSlot(path: key)
    try handle.rekey(removing: 5, deletingItems: true) { $0.deletedItems == [.test("bound")] }
    #expect(try vault.handle().text("bound") == nil)
  }

  @Test func onlyShownItemsAreDeleted() throws {
    try vault.handle(passphrase: "one").removeSlot(3)
    try vault.handle(passphrase: "one").put("bound", "x", .whenPasscodeSetThisDeviceOnly)
    let error = failure { try handle.rekey(removing: 2, deletingItems: true) { _ in false } }
    #expect(error?.code == .cancelled)
    #expect(try vault.handle(passphrase: "one").text("bound") == "x")
  }

  @Test func openingByForgedSlotIsDamage() throws {
    try forge(2)
    let handle = vault.handle(passphrase: "one")
    let error = failure { try handle.rekey { _ in true } }
    #expect(error?.code == .damaged && error?.message.contains("slot 2") == true)
    // Another slot opens the vault, and the forged one is removed.
    let report = try self.handle.rekey(keeping: []) { $0.forged == [2] }
    #expect(report.plan.kept.map(\.number) == [1, 4])
  }

  @Test func forgedSlotsSecretIsNotKept() throws {
    try forge(3)
    let path = try vault.file("two", "two")
    let handle = vault.handle(passphrase: "one")
    let error = failure { try handle.rekey(keeping: [.passphraseFile(path)]) { _ in true } }
    #expect(error?.code == .damaged && error?.message.contains("slot 3") == true)
    let report = try handle.rekey(
      asking: { slot, _ throws(KeychainError) in
        Issue.record("slot \(slot.number) was asked for")
        return nil
      }, confirm: { $0.forged == [3] })
    #expect(report.plan.kept.map(\.number) == [1, 2])
  }

  /// Changes the mac of a slot, and makes the state row agree: this takes only T0.
  private func forge(_ number: UInt32) throws {
    let keys = try handle.administration().keys.openTierOnly
    try vault.handle().existingSession().opened.storage.write(Deadline(after: .seconds(60))) {
      rows throws(KeychainError) in
      var writer = try VaultWriter(
        rows: rows, sealing: ItemSealing(keys: keys, device: nil),
        state: try StateRow.open(rows.stateBox(), under: keys.open.bytes))
      for var slot in try rows.slots().intact where slot.number == number {
        try writer.remove(slot)
        slot.mac = Data(count: 32)
        slot.sum = try slot.expectedSum()
        try writer.put(slot)
      }
      try writer.finish()
    }
  }

  private func failure(_ body: () throws -> Void) -> KeychainError? {
    do { try body() } catch { return error as? KeychainError }
    return nil
  }
}
