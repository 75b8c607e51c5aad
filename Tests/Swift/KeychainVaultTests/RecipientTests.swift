import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Synchronization
import Testing

@testable import KeychainVault

@Suite("Identities open a vault")
struct RecipientTests {
  private let vault: TestVault

  init() throws { vault = try TestVault() }

  @Test func severalPeopleShareAVault() throws {
    try vault.handle().put("a", "one")
    let (alice, bob) = (try vault.identity("alice"), try vault.identity("bob"))
    let slot = try vault.handle().addRecipientSlot(alice.recipient)
    #expect(slot.recipient == alice.recipient)
    try vault.handle().addRecipientSlot(bob.recipient)
    #expect(try vault.handle().slots().map(\.grant) == [.root, .root, .root])
    #expect(try vault.handle(identity: alice.path).text("a") == "one")
    try vault.handle(identity: bob.path).put("b", "two")
    #expect(try vault.handle(identity: alice.path).text("b") == "two")
    try vault.handle(identity: bob.path).removeSlot(slot.number)
    #expect(
      failure { _ = try vault.handle(identity: alice.path).text("a") }?.code == .incorrectSecret)
    #expect(try vault.handle().verify().isIntact)
  }

  @Test func aRecipientHasOneSlot() throws {
    try vault.handle().put("a")
    let alice = try vault.identity("alice")
    try vault.handle().addRecipientSlot(alice.recipient)
    let again = failure { try vault.handle().addRecipientSlot(alice.recipient) }
    #expect(again?.code == .alreadyExists)
    #expect(again?.message.contains("slot 2") == true)
  }

  /// Points with which everyone shares a secret.
  @Test func nothingIsSealedToInvalidPoint() throws {
    try vault.handle().put("a")
    let nobody = VaultRecipient(publicKey: Data(count: 32))
    #expect(failure { try vault.handle().addRecipientSlot(nobody) }?.code == .invalidArgument)
    #expect(try vault.handle().slots().count == 1)
  }

  @Test func vaultMadeWithIdentityHasItsSlot() throws {
    let alice = try vault.identity("alice")
    try vault.handle(identity: alice.path).put("a", "one")
    #expect(try vault.handle().slots().map(\.kind) == [.device, .recipient])
    #expect(try vault.handle().slots().map(\.grant) == [.openTier, .root])
    #expect(failure { _ = try vault.handle().text("a") }?.code == .locked)
    let environment = ["KEYCHAIN_IDENTITY_FILE": alice.path]
    #expect(try vault.handle(environment: environment).text("a") == "one")
    try vault.handle().lock(all: true)
    // The device never knew the root key, so adding a passphrase needs no new one.
    let check = try vault.handle().status().check
    try vault.handle(identity: alice.path).addPassphraseSlot(SecretBytes(copying: "open"))
    #expect(try vault.handle().status().check == check)
    #expect(try vault.handle(passphrase: "open").verify().isIntact)
  }

  @Test func anIdentityPinnedElsewhereMakesNoVault() throws {
    try vault.handle().put("a")
    let alice = try vault.identity("alice")
    #expect(alice.pins == [try #require(try vault.handle().status().check)])
    let other = try TestVault()
    let error = failure { try other.handle(identity: alice.path).put("a") }
    #expect(error?.code == .refused)
    #expect(!FileManager.default.fileExists(atPath: other.path))
  }

  @Test func theFirstPassphraseCarriesRecipientsOver() throws {
    try vault.handle().put("a", "one")
    let (alice, bob) = (try vault.identity("alice"), try vault.identity("bob"))
    for person in [alice, bob] { try vault.handle().addRecipientSlot(person.recipient) }
    let check = try #require(try vault.handle().status().check)
    let told = Mutex<[Notice]>([])
    try vault.handle { $0.notice = { notice in told.withLock { $0.append(notice) } } }
      .addPassphraseSlot(
        SecretBytes(copying: "open"),
        keepingRecipient: { [alice, bob].map(\.recipient).contains($0.recipient) })
    #expect(told.withLock { $0.last?.recovery?.actions == [.pinIdentity(check: nil)] })
    #expect(try vault.handle().slots().map(\.grant) == [.openTier, .root, .root, .root])
    #expect(try vault.handle().status().check != check)
    // They were pinned to the vault under its old key.
    #expect(failure { _ = try vault.handle(identity: bob.path).text("a") }?.code == .rolledBack)
    for person in [alice, bob] {
      try vault.handle().pinIdentity(at: person.path)
      #expect(try vault.handle(identity: person.path).text("a") == "one")
    }
    #expect(try vault.handle().verify().isIntact)
  }

  @Test func deviceIsNotPromotedNextToRecipient() throws {
    let alice = try vault.identity("alice")
    try vault.handle(identity: alice.path).put("a", "one")
    try vault.handle(identity: alice.path).addPassphraseSlot(SecretBytes(copying: "open"))
    try vault.handle(identity: alice.path).removeSlot(3)
    #expect(try vault.handle().slots().map(\.grant) == [.openTier, .root])
    try vault.handle(identity: alice.path).removeSlot(2)
    #expect(try vault.handle().slots().map(\.grant) == [.root])
    #expect(try vault.handle().text("a") == "one")
  }

  @Test func theFirstPresentVariableDecides() throws {
    let alice = try vault.identity("alice")
    try vault.handle(identity: alice.path).put("a", "one")
    let key = try vault.file("key", String(repeating: "k", count: 32))
    let both = ["KEYCHAIN_IDENTITY_FILE": alice.path, "KEYCHAIN_PASSPHRASE": "wrong"]
    #expect(try vault.handle(environment: both).text("a") == "one")
    try vault.handle().lock(all: true)
    #expect(
      failure {
        _ = try vault.handle(environment: both.merging(["KEYCHAIN_KEY_FILE": key]) { $1 }).text("a")
      }?.code == .incorrectSecret)
  }

  @Test func anIdentityFileIsClosedToOthers() throws {
    let alice = try vault.identity("alice")
    let mode = try FileManager.default.attributesOfItem(atPath: alice.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: alice.path)
    #expect(
      failure { _ = try vault.handle().identity(at: alice.path) }?.code == .insecurePermissions)
    #expect(
      failure { try vault.handle(identity: alice.path).put("a") }?.code == .insecurePermissions)
  }

  @Test func anIdentityIsNeverOverwritten() throws {
    let alice = try vault.identity("alice")
    #expect(failure { _ = try vault.identity("alice") }?.code == .alreadyExists)
    #expect(try vault.handle().identity(at: alice.path) == alice)
    #expect(try FileManager.default.contentsOfDirectory(atPath: vault.folder.path) == ["alice"])
  }
}
