import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesFiles
import Testing

@testable import KeychainVault

/// Ways to put a removed recipient into a vault with new keys.
@Suite("Recipients that get new keys")
struct KeptRecipientTests {
  private let vault: TestVault
  private let theirs: IdentityDescription
  private let removed: SlotRow

  /// Creates a vault with a passphrase, and the row of a recipient who had its slot 3.
  init() throws {
    vault = try TestVault()
    // Created before the vault exists, so that it is not pinned.
    theirs = try vault.identity("theirs")
    try vault.handle(passphrase: "one").put("a", "secret")
    try vault.handle(passphrase: "one").addRecipientSlot(theirs.recipient)
    removed = try #require(
      try vault.handle(passphrase: "one").administration().head.slots(.recipient).first)
  }

  private var handle: Vault { vault.handle(passphrase: "one") }

  /// Restores the row, and makes the state row agree: this takes only T0.
  private func putBack() throws {
    let keys = try handle.administration().keys.openTierOnly
    try vault.handle().existingSession().opened.storage.write(Deadline(after: .seconds(60))) {
      rows throws(KeychainError) in
      var writer = try VaultWriter(
        rows: rows, sealing: ItemSealing(keys: keys, device: nil),
        state: try StateRow.open(rows.stateBox(), under: keys.open.bytes))
      try writer.put(removed)
      try writer.finish()
    }
  }

  @Test func restoredRecipientRowIsAskedAbout() throws {
    try handle.removeSlot(3)
    try putBack()
    #expect(try handle.verify().isIntact)
    var asked: [VaultRecipient?] = []
    let report = try handle.rekey(
      keepingRecipient: { slot in
        asked.append(slot.recipient)
        return false
      }, confirm: { $0.dropped.map(\.recipient) == [theirs.recipient] })
    #expect(asked == [theirs.recipient])
    #expect(report.plan.kept.map(\.number) == [1, 2] && report.plan.forged.isEmpty)
    #expect(code { _ = try vault.handle(identity: theirs.path).text("a") } == .incorrectSecret)
  }

  @Test func unlessAskedNoRecipientIsKept() throws {
    let report = try handle.rekey(confirm: { _ in true })
    #expect(report.plan.dropped.map(\.number) == [3])
  }

  @Test func aHiddenSlotEndsEveryChange() throws {
    try vault.handle().existingSession().opened.storage.write(Deadline(after: .seconds(60))) {
      rows throws(KeychainError) in try rows.removeSlot(3)
    }
    let before = try Data(contentsOf: URL(filePath: vault.path))
    let key = try vault.file("key", String(repeating: "k", count: 32))
    let changes: [() throws -> Void] = [
      { try handle.addRecipientSlot(theirs.recipient) },
      { try handle.addPassphraseSlot(SecretBytes(copying: "two")) },
      { try handle.addKeyFileSlot(path: key) },
      { try handle.addRecoveryCodeSlot { _ in true } },
      { try handle.removeSlot(1) },
      { try handle.changePassphrase(to: SecretBytes(copying: "two")) },
      { try handle.rekey { _ in true } },
      { try handle.rekey(removing: 1) { _ in true } },
    ]
    for change in changes { #expect(code(change) == .damaged) }
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
  }

  /// A change would write a state row, and so confirm the rest of the vault.
  @Test func aHiddenItemEndsAChangeToo() throws {
    try handle.put("b")
    let keys = try handle.administration().keys
    let id = try ItemSealing(keys: keys, device: nil).id(of: .test("b"))
    try vault.handle().existingSession().opened.storage.write(Deadline(after: .seconds(60))) {
      rows throws(KeychainError) in try rows.removeItem(id)
    }
    #expect(code { try handle.changePassphrase(to: SecretBytes(copying: "two")) } == .damaged)
  }

  @Test func removalWithNewKeysReencryptsEverything() throws {
    let old = try handle.administration().keys.checks
    let report = try handle.rekey(removing: 3) { plan in
      Issue.record("nothing else goes, but \(plan)")
      return false
    }
    #expect(report.plan.removed?.recipient == theirs.recipient && report.plan.dropped.isEmpty)
    let checks = try handle.administration().keys.checks
    #expect(Tier.allCases.allSatisfy { checks[$0] != old[$0] })
    try putBack()
    #expect(code { _ = try vault.handle(identity: theirs.path).text("a") } == .damaged)
    #expect(code { try handle.rekey(removing: 9) { _ in true } } == .notFound)
  }

  @Test func removedSlotIsNotKeptByItsSecret() throws {
    try handle.addPassphraseSlot(SecretBytes(copying: "two"))
    let path = try vault.file("two", "two")
    let report = try handle.rekey(removing: 4, keeping: [.passphraseFile(path)]) { _ in true }
    #expect(report.plan.kept.map(\.number) == [1, 2])
    // A user who opens the vault with the removed slot needs another one.
    #expect(code { try handle.rekey(removing: 2, deletingItems: true) { _ in true } } == nil)
    #expect(try vault.handle().slots().map(\.grant) == [.root])
    #expect(try vault.handle().text("a") == "secret")
    #expect(code { try vault.handle().rekey(removing: 1) { _ in true } } == .refused)
  }

  private func code(_ body: () throws -> Void) -> KeychainError.Code? {
    do { try body() } catch { return (error as? KeychainError)?.code ?? .internalFailure }
    return nil
  }
}
