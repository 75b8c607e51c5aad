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

  @Test func aRecipientIsReplacedByAnother() throws {
    try vault.changeSlot(2) { $0.with(parameters: mallory.recipient.publicKey) }
    expect(.damaged) { try vault.handle(identity: mallory.path).text("a") }
    expect(.incorrectSecret) { try vault.handle(identity: alice.path).text("a") }
    // Otherwise the new root key would be sealed to the wrong recipient.
    expect(.damaged) {
      try vault.handle().addPassphraseSlot(SecretBytes(copying: TestVault.passphrase))
    }
    #expect(try vault.handle().verify().isIntact == false)
    #expect(try vault.handle().text("a") == "one")
  }

  @Test func foreignRootKeySealedToRecipientIsRefused() throws {
    let other = try SecretBytes.random(count: 32)
    let forged = try SlotSealing.seal(to: alice.recipient, number: 2, root: other)
    try vault.changeSlot(2) { _ in forged }
    expect(.damaged) { try vault.handle(identity: alice.path).text("a") }
    expect(.damaged) { try vault.handle(identity: alice.path).removeSlot(1) }
    expect(.damaged) { try vault.handle().removeSlot(1) }
  }

  @Test func theBoxIsNotThatOfTheCommitment() throws {
    let other = try SecretBytes.random(count: 32)
    let forged = try SlotSealing.seal(to: alice.recipient, number: 2, root: other)
    try vault.changeSlot(2) { $0.with(box: forged.box) }
    expect(.damaged) { try vault.handle(identity: alice.path).text("a") }
  }

  @Test func theCommitmentOfARecipientIsChanged() throws {
    try vault.changeSlot(2) { $0.with(commitment: Data(count: 32)) }
    expect(.damaged) { try vault.handle(identity: alice.path).text("a") }
  }

  @Test func brokenSlotDoesNotBlockGoodOne() throws {
    let forged = try SlotSealing.seal(
      to: alice.recipient, number: 9, root: SecretBytes.random(count: 32))
    let good = try #require(try vault.handle().administration().head.slots(.recipient).first)
    let queue = try vault.rawDatabase()
    try queue.write { database in
      let rows = SQLiteVaultRows(database: database, path: vault.path)
      try rows.removeSlot(2)
      var moved = good.with(number: 10)
      moved.sum = try moved.expectedSum()
      try rows.put(moved)
      var broken = forged.with(box: Data(count: 80))
      broken.sum = try broken.expectedSum()
      try rows.put(broken)
    }
    try queue.close()
    #expect(try vault.handle(identity: alice.path).text("a") == "one")
    expect(.damaged) { try vault.handle(identity: alice.path).removeSlot(1) }
  }

  @Test(arguments: [2, 3])
  func slotWithoutRootKeyIsDamaged(_ number: Int) throws {
    try vault.changeSlot(number) { $0.with(grant: .openTier) }
    #expect(try vault.handle().status().damagedSlots == [UInt32(number)])
    expect(.damaged) { try vault.handle().removeSlot(1) }
    expect(.damaged) {
      try (number == 2 ? vault.handle(identity: alice.path) : vault.handle(recoveryCode: code))
        .text("a")
    }
  }

  @Test func aPublicKeyOfAnotherLengthIsDamaged() throws {
    try vault.changeSlot(2) { $0.with(parameters: Data(count: 31)) }
    #expect(try vault.handle().status().damagedSlots == [2])
  }

  @Test func theCommitmentOfACodeIsChanged() throws {
    try vault.changeSlot(3) { $0.with(commitment: Data(count: 32)) }
    expect(.incorrectSecret) { try vault.handle(recoveryCode: code).text("a") }
    try vault.changeSlot(3) { $0.with(box: Data(count: 72)) }
    #expect(try vault.handle().verify().isIntact == false)
  }

  private func expect<Result>(
    _ code: KeychainError.Code, _ body: () throws -> Result
  ) {
    let error = #expect(throws: KeychainError.self) { _ = try body() }
    #expect(error?.code == code)
  }
}

extension SlotRow {
  fileprivate func with(
    number: UInt32? = nil, grant: SlotGrant? = nil, parameters: Data? = nil,
    commitment: Data? = nil, box: Data? = nil
  ) -> SlotRow {
    SlotRow(
      number: number ?? self.number, kind: kind, grant: grant ?? self.grant,
      parameters: parameters ?? self.parameters, salt: salt,
      commitment: commitment ?? self.commitment, box: box ?? self.box, mac: mac)
  }
}
