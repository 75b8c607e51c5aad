import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesSystem
import Testing

@testable import KeychainVault

/// The slots that stay determine what else stays after a removal.
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
  private var head: HeadIdentity {
    get throws { try vault.handle().existingSession().head.identity }
  }

  @Test func removalMakesNewKeysByDefault() throws {
    let old = try handle.administration()
    try handle.removeSlot(2)
    let new = try head
    #expect(new.binding != old.keys.binding && new.epoch == 2)
    #expect(new.administration != old.head.administration)
    #expect(try handle.slots().map(\.number) == [1, 3, 4])
    #expect(
      failure { _ = try vault.handle(passphrase: "one").text("a") }?.code == .incorrectSecret)
    #expect(try vault.handle(passphrase: "two").text("a") == "secret")
    #expect(try handle.verify().problems == [])
  }

  @Test func keysCanBeKept() throws {
    let old = try head
    try handle.removeSlot(2, keepingKeys: true)
    #expect(try head == old)
    #expect(try handle.slots().map(\.number) == [1, 3, 4])
    #expect(try vault.handle(passphrase: "two").text("a") == "secret")
    #expect(try handle.verify().problems == [])
  }

  @Test func slotWithLessAccessLeavesAdministrationKey() throws {
    let old = try head
    let report = try handle.rekey(removing: 1) { !$0.changesAdministrationKey }
    #expect(try head.administration == old.administration && report.plan.removed?.number == 1)
    #expect(try report.check == old.check())
  }

  @Test(arguments: [true, false])
  func deviceOpensEverythingWithoutDailyKey(_ keepsKeys: Bool) throws {
    try handle.removeSlot(2, keepingKeys: keepsKeys)
    #expect(try vault.handle().slots().map(\.grant) == [.openTier, .administers, .administers])
    var shown: RekeyPlan?
    try handle.removeSlot(3, keepingKeys: keepsKeys) { plan in
      shown = plan
      return true
    }
    #expect(shown?.promotesDevice == (keepsKeys ? nil : true))
    #expect(try vault.handle().slots().map(\.grant) == [.administers, .administers])
    #expect(try vault.handle().text("a") == "secret")
    #expect(try vault.handle().verify().problems == [])
  }

  @Test(arguments: [true, false])
  func itemsThatNeedPassphraseGoWithLastOne(_ keepsKeys: Bool) throws {
    try vault.handle(passphrase: "one").put("bound", "x", .whenPasscodeSetThisDeviceOnly)
    try handle.removeSlot(3)
    let error = failure { try handle.removeSlot(2, keepingKeys: keepsKeys) }
    #expect(error?.code == .refused && error?.message.contains("'bound'") == true)
    #expect(
      error?.recovery?.actions == [
        .removeSlot(number: 2, deletingItems: true, withNewKeys: !keepsKeys)
      ])
    #expect(try handle.itemsDeleted(withSlot: 2).map(\.identity) == [.test("bound")])
    let deleted = try handle.removeSlot(2, keepingKeys: keepsKeys, deletingItems: true) { plan in
      plan.deletedItems == [.test("bound")]
    }
    #expect(deleted.map(\.identity) == [.test("bound")])
    #expect(try vault.handle().text("bound") == nil)
    #expect(try vault.handle().text("a") == "secret")
    #expect(try vault.handle().verify().problems == [])
  }

  @Test func onlyShownItemsAreDeleted() throws {
    try vault.handle(passphrase: "one").removeSlot(3)
    try vault.handle(passphrase: "one").put("bound", "x", .whenPasscodeSetThisDeviceOnly)
    let error = failure { try handle.rekey(removing: 2, deletingItems: true) { _ in false } }
    #expect(error?.code == .cancelled)
    #expect(try vault.handle(passphrase: "one").text("bound") == "x")
  }

  /// Items of other devices are lost with new keys, which a person must know.
  @Test func otherDevicesItemsStayUnlessAgreed() throws {
    try vault.handle(passphrase: "one").put("theirs", "x", .alwaysThisDeviceOnly)
    try FileManager.default.removeItem(atPath: vault.deviceSecretPath)
    #expect(failure { try handle.removeSlot(2) }?.code == .cancelled)
    #expect(try vault.handle(passphrase: "one").verify().itemCount == 2)
    try handle.removeSlot(2) { $0.otherDeviceItemCount == 1 }
    #expect(try handle.verify().itemCount == 1)
  }

  @Test func absentSlotIsNamed() throws {
    let error = failure { try handle.removeSlot(9) }
    #expect(error?.code == .notFound && error?.message.contains("9") == true)
  }

  @Test func theLastAdministratorStays() throws {
    let other = try TestVault()
    try other.handle().put("a")
    for keepsKeys in [true, false] {
      #expect(
        failure { try other.handle().removeSlot(1, keepingKeys: keepsKeys) }?.code == .refused)
    }
  }
}
