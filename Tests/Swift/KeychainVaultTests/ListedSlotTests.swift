import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault
@testable import KeychainVaultFormat

/// What slots can do without the signed list of members.
@Suite("Slots count only if they are listed")
struct ListedSlotTests {
  private let vault: TestVault
  private let theirs: IdentityDescription

  /// The slot 3 of a recipient, as the file has it.
  private let removed: Data

  /// Creates a vault with slots 1 device, 2 passphrase, 3 recipient.
  init() throws {
    vault = try TestVault()
    // Created before the vault exists, so that it is not pinned.
    theirs = try vault.identity("theirs")
    try vault.handle(passphrase: "one").put("a", "secret")
    try vault.handle(passphrase: "one").addRecipientSlot(theirs.recipient)
    removed = try #require(try vault.handle().existingSession().head.parts.slots.last)
  }

  private var handle: Vault { vault.handle(passphrase: "one") }

  /// Puts a base in place of the vault, which has all items, and other slots.
  private func forge(_ change: (inout NewBase, RawVault) throws -> Void) throws {
    let raw = try RawVault(vault, handle)
    var base = try raw.base()
    try change(&base, raw)
    try raw.replace(by: base)
  }

  @Test func slotPutBackOpensNothing() throws {
    try handle.removeSlot(3, keepingKeys: true)
    try forge { base, _ in base.head.slots.append(removed) }
    for secret in [vault.handle(identity: theirs.path), handle] {
      #expect(failure { _ = try secret.text("a") }?.code == .damaged)
    }
  }

  /// Its box has the keys before.
  @Test func slotPutBackAfterNewKeysIsStale() throws {
    try handle.removeSlot(3)
    try forge { base, _ in base.head.slots.append(removed) }
    let error = failure { _ = try vault.handle(identity: theirs.path).text("a") }
    #expect(error?.code == .damaged)
  }

  @Test func slotOfAnOldPassphraseOpensNothing() throws {
    let old = try #require(
      try handle.existingSession().head.slots(of: .passphrase).first.map { Data($0.fields) })
    try handle.changePassphrase(to: SecretBytes(copying: "two"))
    let raw = try RawVault(vault, vault.handle(passphrase: "two"))
    var base = try raw.base()
    base.head.slots[1] = old
    try raw.replace(by: base)
    #expect(failure { _ = try handle.text("a") }?.code == .damaged)
    #expect(failure { _ = try vault.handle(passphrase: "two").text("a") } != nil)
  }

  @Test func numbersAreNeverUsedAgain() throws {
    try handle.removeSlot(3, keepingKeys: true)
    #expect(try handle.addRecipientSlot(theirs.recipient).number == 4)
    try handle.removeSlot(4)
    #expect(try handle.addPassphraseSlot(SecretBytes(copying: "two")).number == 5)
  }

  @Test func aHiddenSlotEndsEverything() throws {
    try forge { base, _ in base.head.slots.removeLast() }
    let before = try vault.bytes
    let uses: [() throws -> Void] = [
      { _ = try handle.text("a") },
      { _ = try vault.handle().search(CredentialQuery()) },
      { try handle.addRecipientSlot(theirs.recipient) },
      { try handle.removeSlot(1, keepingKeys: true) },
      { try handle.changePassphrase(to: SecretBytes(copying: "two")) },
      { try handle.rekey { _ in true } },
      { try handle.acceptRestored { _ in true } },
    ]
    for (index, use) in uses.enumerated() {
      #expect(failure(use)?.code == .damaged, "use \(index)")
    }
    #expect(try vault.bytes == before)
  }

  /// Anyone who has T0 knows the public keys of all slots, and can seal keys to them.
  @Test func boxOfSomebodyElseOpensNothing() throws {
    let other = try VaultEpoch(signer: nil)
    try forge { base, raw in
      let list = raw.contents.list
      let slot = try #require(raw.contents.head.slots.last)
      let forged = try SlotSealing.reseal(
        slot, of: #require(list.member(3)),
        granted: GrantedKey(.administers, root: other.root, keys: other.keys), head: other.identity)
      base.head.slots[2] = Data(forged.slot.fields)
    }
    for secret in [vault.handle(identity: theirs.path), handle] {
      #expect(failure { _ = try secret.text("a") }?.code == .damaged)
    }
  }

  /// A writer who is no administrator cannot sign a list, but could bring back an old one.
  @Test func olderListOpensNothingWhereTheNewerWasSeen() throws {
    let old = try RawVault(vault, handle)
    let head = old.contents.head.parts
    try handle.removeSlot(3, keepingKeys: true)
    try forge { base, raw in
      base.head = head
      base.serial = old.contents.list.serial
    }
    for secret in [vault.handle(identity: theirs.path), handle] {
      #expect(failure { _ = try secret.text("a") }?.code == .rolledBack)
    }
  }

  /// A list that a newer release wrote must not be signed again without what it has.
  @Test func unknownKindsEndEveryChange() throws {
    try forge { base, raw in
      let list = raw.contents.list
      var strange = raw.contents.head.parts.slots[1]
      strange[strange.startIndex] = UInt8(list.nextNumber)
      strange[strange.startIndex + 4] = 9
      let member = Member(
        number: list.nextNumber, kindNumber: 9, grantNumber: 1,
        slotHash: try Derivation.hash("pk3/slot", Array(strange)),
        boxKey: list.members[1].boxKey, signingKey: Data(), name: "")
      let newest = raw.contents.newest
      var new = try list.next(first: newest.n + 1, before: newest.digest)
      new.members.append(member)
      new.nextNumber += 1
      let key = raw.admin.epoch.administration
      base.head.slots.append(strange)
      base.head.list = try new.sealed(by: key, raw.keys)
      base.serial = new.serial
      base.administration = key
    }
    #expect(try handle.text("a") == "secret")
    try handle.put("a", "new")
    let before = try vault.bytes
    let changes: [() throws -> Void] = [
      { try handle.rekey { _ in true } }, { try handle.removeSlot(3) },
      { try handle.addPassphraseSlot(SecretBytes(copying: "two")) },
    ]
    for change in changes { #expect(failure(change)?.code == .unsupportedFormat) }
    #expect(try vault.bytes == before)
  }
}
