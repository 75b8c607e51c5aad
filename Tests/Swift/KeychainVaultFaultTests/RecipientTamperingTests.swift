import Foundation
import GRDB
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// Changes of recipients and recovery codes by an attacker who can write the file but has no key.
@Suite("Tampering with recipients and recovery codes")
struct RecipientTamperingTests {
  private let vault: TestVault
  private let alice: IdentityDescription
  private let mallory: IdentityDescription
  private let code: String

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "one")
    alice = try vault.identity("alice")
    mallory = try vault.identity("mallory")
    try vault.handle().addRecipientSlot(alice.recipient)
    code = try vault.addRecoveryCode()
  }

  /// Everybody with T0 knows the public keys, and can seal keys of their own to them.
  @Test func foreignRootKeySealedToRecipientIsRefused() throws {
    let forged = try forgedSlot(to: alice.recipient)
    try vault.changeSlot(2) { _ in forged }
    expect(.damaged) { try vault.handle(identity: alice.path).text("a") }
    expect(.damaged) { try vault.handle(identity: alice.path).removeSlot(1) }
    expect(.damaged) { try vault.handle().removeSlot(1) }
    #expect(try vault.handle().verify().isIntact == false)
    #expect(try vault.handle().text("a") == "one")
  }

  @Test func aRecipientIsReplacedByAnother() throws {
    let forged = try forgedSlot(to: mallory.recipient)
    try vault.changeSlot(2) { _ in forged }
    expect(.damaged) { try vault.handle(identity: mallory.path).text("a") }
    #expect(throws: KeychainError.self) { try vault.handle(identity: alice.path).text("a") }
    // Otherwise the new root key would be sealed to the wrong recipient.
    expect(.damaged) {
      try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
    }
  }

  @Test func theBoxIsNotThatOfTheCommitment() throws {
    let forged = try forgedSlot(to: alice.recipient)
    try vault.changeSlot(2) { try $0.with(box: forged.box) }
    expect(.damaged) { try vault.handle(identity: alice.path).text("a") }
  }

  @Test(arguments: ["commitment", "made", "salt"])
  func aColumnOfARecipientIsChanged(_ column: String) throws {
    let other = Data(repeating: 7, count: 32)
    try vault.changeSlot(2) { slot in
      switch column {
      case "commitment": try slot.with(commitment: other)
      case "made": try slot.with(made: other)
      default: try slot.with(salt: other)
      }
    }
    expect(.damaged) { try vault.handle(identity: alice.path).text("a") }
    #expect(try vault.handle().verify().isIntact == false)
  }

  @Test func strangeSlotDoesNotBlockGoodOne() throws {
    let forged = try forgedSlot(to: alice.recipient).with(number: 9)
    try vault.changeRows { rows in
      try rows.put(forged)
      try rows.put(forged.with(number: 10, box: Data(count: forged.box.count)))
    }
    #expect(try vault.handle(identity: alice.path).text("a") == "one")
    #expect(try vault.handle().verify().problems.count == 2)
  }

  @Test(arguments: [2, 3])
  func slotWithoutRootKeyIsDamaged(_ number: Int) throws {
    try vault.changeSlot(number) { try $0.with(grant: .readsAndWrites) }
    #expect(try vault.handle().status().damagedSlots == [UInt32(number)])
    expect(.damaged) { try vault.handle().removeSlot(1) }
    expect(.damaged) {
      try (number == 2 ? vault.handle(identity: alice.path) : vault.handle(recoveryCode: code))
        .text("a")
    }
  }

  @Test func theCommitmentOfACodeIsChanged() throws {
    try vault.changeSlot(3) { try $0.with(commitment: Data(count: 32)) }
    expect(.incorrectSecret) { try vault.handle(recoveryCode: code).text("a") }
    #expect(try vault.handle().verify().isIntact == false)
  }

  @Test func aSlotOfAnUnknownKindIsPassedOver() throws {
    try vault.tamper { try $0.execute(sql: "UPDATE slot SET kind = 9 WHERE number = 2") }
    #expect(try vault.handle().text("a") == "one")
    #expect(try vault.handle(recoveryCode: code).text("a") == "one")
    #expect(try vault.handle().status().unknownSlots == [2])
    #expect(throws: KeychainError.self) { try vault.handle().removeSlot(3) }
  }

  /// Returns a slot with number 2 that yields another root key.
  private func forgedSlot(to recipient: VaultRecipient) throws -> SlotRow {
    let head = try vault.readRows { try $0.headRow() }
    let root = SharedSecret(try SecretBytes.random(count: 32))
    return try SlotSealing.seal(
      to: recipient, number: 2, grant: .administers, granted: .root(root), head: head
    ).slot
  }
}
