import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

@Suite("Slots with one recipient or none")
struct RecipientSlotTests {
  private let vault: TestVault
  private let alice: IdentityDescription

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "one")
    // Pinned to the vault, as seen here.
    alice = try vault.identity("alice")
    try #require(alice.pins.count == 1)
  }

  private static let brokenSlots: [@Sendable (SlotRow) throws -> SlotRow] = [
    { SlotRow($0, box: Data(count: 80)) }, { SlotRow($0, commitment: Data(count: 32)) },
    // Anyone can seal their own root key under the check, which is public.
    {
      try SlotSealing.seal(
        to: #require($0.recipient), number: $0.number, root: SecretBytes.random(count: 32))
    },
  ]

  /// The valid slot comes after the others, or is missing.
  @Test(arguments: brokenSlots.indices, [true, false])
  func allSlotsAreTried(_ index: Int, _ isThereAGoodOne: Bool) throws {
    try change { change, root throws(KeychainError) in
      let good = try SlotSealing.seal(to: alice.recipient, number: 9, root: root)
      let broken: SlotRow
      do { broken = try Self.brokenSlots[index](SlotRow(good, number: 5)) } catch {
        throw KeychainError(.internalFailure, "no slot")
      }
      try change.writer.put(broken.authenticated(by: root))
      if isThereAGoodOne { try change.writer.put(good) }
    }
    if isThereAGoodOne {
      #expect(try vault.handle(identity: alice.path).text("a") == "one")
    } else {
      let error = failure { _ = try vault.handle(identity: alice.path).text("a") }
      #expect(error?.code == .damaged)
      #expect(error?.message.contains("slot 5") == true)
    }
  }

  /// The bit that X25519 ignores: the holder of the private key could open the box.
  private var aliased: VaultRecipient {
    var key = alice.recipient.publicKey
    key[31] |= 0x80
    return VaultRecipient(publicKey: key)
  }

  @Test func invalidPublicKeyGetsNoSlot() throws {
    #expect(failure { try vault.handle().addRecipientSlot(aliased) }?.code == .invalidArgument)
    #expect(failure { _ = try VaultRecipient(text: "\(aliased)") }?.code == .invalidArgument)
    #expect(try vault.handle().slots().count == 1)
  }

  /// Such a slot belongs to no recipient, whichever writer created it, and gets no new root key.
  @Test func slotOfInvalidPublicKeyHasNoRecipient() throws {
    let aliased = aliased
    try change { change, root throws(KeychainError) in
      let good = try SlotSealing.seal(to: alice.recipient, number: 5, root: root)
      try change.writer.put(
        SlotRow(good, parameters: aliased.publicKey).authenticated(by: root))
    }
    #expect(try vault.handle().verify().isIntact)
    #expect(
      failure { _ = try vault.handle(identity: alice.path).text("a") }?.code == .incorrectSecret)
    let first = failure { try vault.handle().addPassphraseSlot(SecretBytes(copying: "open")) }
    #expect(first?.code == .refused && first?.message.contains("5 (recipient pkpub1-") == true)
    let report = try vault.handle().rekey(confirm: { _ in true })
    #expect(report.plan.dropped.map(\.number) == [5])
  }

  private func change(
    _ body: (inout SlotChange, borrowing SecretBytes) throws(KeychainError) -> Void
  ) throws {
    try vault.handle().administration().change { change throws(KeychainError) in
      let root = change.root
      try body(&change, root.bytes)
    }
  }
}

extension SlotRow {
  /// Copies the slot with other columns.
  fileprivate init(
    _ slot: SlotRow, number: UInt32? = nil, parameters: Data? = nil, commitment: Data? = nil,
    box: Data? = nil
  ) {
    self.init(
      number: number ?? slot.number, kind: slot.kind, grant: slot.grant,
      parameters: parameters ?? slot.parameters, salt: slot.salt,
      commitment: commitment ?? slot.commitment, box: box ?? slot.box)
  }
}
