import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// What the rows of slots can do without the signed list of members.
@Suite("Slots count only if they are listed")
struct ListedSlotTests {
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
      try vault.handle().existingSession().readHead().slots(.recipient).first)
  }

  private var handle: Vault { vault.handle(passphrase: "one") }

  @Test(arguments: [true, false])
  func rowPutBackOpensNothing(_ keepsKeys: Bool) throws {
    try handle.removeSlot(3, keepingKeys: keepsKeys)
    let removed = removed
    try vault.write { rows throws(KeychainError) in try rows.put(removed) }
    let error = failure { _ = try vault.handle(identity: theirs.path).text("a") }
    #expect(error?.code == .damaged && error?.message.contains("slot 3") == true)
    #expect(try handle.text("a") == "secret")
    let report = try handle.rekey { _ in true }
    #expect(report.plan.kept.map(\.number) == [1, 2] && report.plan.unlisted == [3])
    #expect(
      failure { _ = try vault.handle(identity: theirs.path).text("a") }?.code == .incorrectSecret)
  }

  @Test func everyChangeRemovesUnlistedRows() throws {
    try handle.removeSlot(3, keepingKeys: true)
    let removed = removed
    try vault.write { rows throws(KeychainError) in try rows.put(removed) }
    #expect(try !handle.verify().isIntact)
    try handle.changePassphrase(to: SecretBytes(copying: "two"))
    #expect(try vault.handle().slots().map(\.number) == [1, 2])
    #expect(try vault.handle(passphrase: "two").verify().isIntact)
  }

  @Test func numbersAreNeverUsedAgain() throws {
    try handle.removeSlot(3, keepingKeys: true)
    #expect(try handle.addRecipientSlot(theirs.recipient).number == 4)
    try handle.removeSlot(4)
    #expect(try handle.addPassphraseSlot(SecretBytes(copying: "two")).number == 5)
  }

  @Test func aHiddenSlotEndsEveryChange() throws {
    try vault.write { rows throws(KeychainError) in try rows.removeSlot(3) }
    let before = try Data(contentsOf: URL(filePath: vault.path))
    let key = try vault.file("key", String(repeating: "k", count: 32))
    let changes: [() throws -> Void] = [
      { try handle.addRecipientSlot(theirs.recipient) },
      { try handle.addPassphraseSlot(SecretBytes(copying: "two")) },
      { try handle.addKeyFileSlot(path: key) },
      { try handle.addRecoveryCodeSlot { _ in true } },
      { try handle.removeSlot(1) },
      { try handle.removeSlot(1, keepingKeys: true) },
      { try handle.changePassphrase(to: SecretBytes(copying: "two")) },
      { try handle.rekey { _ in true } },
      { try handle.rekey(removing: 1) { _ in true } },
    ]
    for (index, change) in changes.enumerated() {
      #expect(failure(change)?.code == .damaged, "change \(index)")
    }
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
    // It still opens, and says what is missing.
    #expect(try handle.text("a") == "secret")
    #expect(try !handle.verify().isIntact)
  }

  /// A change signs a new list and makes a new state, and so confirms the rest of the vault.
  @Test func aHiddenItemEndsAChangeToo() throws {
    try handle.put("b")
    let keys = try handle.administration().keys
    let id = try ItemSealing(keys: keys, device: nil).id(of: .test("b"))
    try vault.write { rows throws(KeychainError) in try rows.removeItem(id, tokens: []) }
    #expect(
      failure { try handle.changePassphrase(to: SecretBytes(copying: "two")) }?.code == .damaged)
  }

  /// Whoever has T0 knows the public keys of all slots, and can seal keys to them.
  @Test func boxOfSomebodyElseOpensNothing() throws {
    let admin = try handle.administration()
    let other = try VaultEpoch(signer: nil)
    let (row, member) = (removed, try #require(admin.list.member(3)))
    let head = try HeadRow(
      id: admin.head.row.id, epoch: 1, keys: other.keys, administration: other.head.administration,
      generation: 1)
    let forged = try SlotSealing.reseal(
      row, of: member, grant: .administers, granted: other.granted(.administers), head: head)
    try vault.write { rows throws(KeychainError) in try rows.put(forged.slot) }
    let error = failure { _ = try vault.handle(identity: theirs.path).text("a") }
    #expect(error?.code == .damaged && error?.message.contains("slot 3") == true)
  }

  /// Whoever has T0 can replace head, list and state, and seal their own keys to every slot.
  @Test func replacedAdministrationKeyOpensNothing() throws {
    let admin = try handle.administration()
    let epoch = try VaultEpoch(after: admin.head.row, key: nil, above: 0, signer: nil)
    let slots = try admin.list.rows(in: admin.head.slots).map {
      try epoch.reseal($0.slot, of: $0.member, grant: $0.grant)
    }
    let members = try epoch.members(
      slots.map(\.member), after: admin.list, above: 0, successions: [])
    try vault.write { rows throws(KeychainError) in
      try rows.removeIndexes()
      for slot in slots { try rows.put(slot.slot) }
      let writer = try VaultWriter(
        beginning: rows, ItemSealing(keys: epoch.keys, device: nil), head: epoch.head,
        list: members.list, row: members.row, continuing: nil)
      try writer.finish()
    }
    try FileManager.default.removeItem(atPath: vault.seenFolder)
    for secret in [handle, vault.handle(identity: theirs.path)] {
      let error = failure { _ = try secret.text("a") }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains("administration key") == true)
    }
  }

  @Test func slotOfAnOldPassphraseOpensNothing() throws {
    let old = try #require(try handle.existingSession().readHead().slots(.passphrase).first)
    try handle.changePassphrase(to: SecretBytes(copying: "two"))
    try vault.write { rows throws(KeychainError) in try rows.put(old) }
    #expect(failure { _ = try handle.text("a") }?.code == .damaged)
  }

  /// A list that a newer release wrote must not be signed again without what it has.
  @Test func unknownKindsEndEveryChange() throws {
    let admin = try handle.administration()
    let strange = Member(
      number: admin.list.nextNumber, kindNumber: 9, grantNumber: 1, rowHash: Data(count: 32),
      boxKey: Data(count: 32), signingKey: Data(), name: "")
    try admin.change { change throws(KeychainError) in
      let list = change.list.next(
        change.list.members + [strange], nextNumber: strange.number + 1)
      let row = try MembersRow(
        list, signedBy: admin.key, administration: admin.head.members.administration,
        open: admin.keys.open.bytes)
      try change.writer.replaceMembers(list, row)
    }
    #expect(try handle.text("a") == "secret")
    let error = failure { try handle.rekey { _ in true } }
    #expect(error?.code == .unsupportedFormat)
  }
}
