import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Synchronization
import Testing

@testable import KeychainVault
@testable import KeychainVaultFormat

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
    #expect(try vault.handle().slots().map(\.grant) == [.administers, .administers, .administers])
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

  /// Keys that no identity has: points of low order, and a point in another form.
  @Test func recipientWithoutIdentityGetsNoSlot() throws {
    try vault.handle().put("a")
    let good = try vault.identity("alice").recipient
    let zero = Data(count: 32)
    var aliased = good.boxKey
    aliased[31] |= 0x80
    for nobody in [
      VaultRecipient(boxKey: zero, signingKey: good.signingKey),
      VaultRecipient(boxKey: aliased, signingKey: good.signingKey),
      VaultRecipient(boxKey: good.boxKey, signingKey: zero),
    ] {
      #expect(failure { try vault.handle().addRecipientSlot(nobody) }?.code == .invalidArgument)
      #expect(failure { _ = try VaultRecipient(text: "\(nobody)") }?.code == .invalidArgument)
    }
    #expect(try vault.handle().slots().count == 1)
  }

  @Test func localVaultHasOnlyRecipientsThatAdminister() throws {
    try vault.handle().put("a")
    let alice = try vault.identity("alice")
    for grant in [SlotGrant.readsAndWrites, .reads, .openTier] {
      let error = failure { try vault.handle().addRecipientSlot(alice.recipient, grant: grant) }
      #expect(error?.code == .refused)
    }
    #expect(try vault.handle().addRecipientSlot(alice.recipient).grant == .administers)
  }

  @Test func namesAreStoredAndLimited() throws {
    try vault.handle().put("a")
    let alice = try vault.identity("alice")
    let long = String(repeating: "x", count: 257)
    let error = failure { try vault.handle().addRecipientSlot(alice.recipient, name: long) }
    #expect(error?.code == .invalidArgument)
    try vault.handle().addRecipientSlot(alice.recipient, name: "Alice \u{E9}")
    #expect(try vault.handle().slots().map(\.name) == ["", "Alice \u{E9}"])
  }

  @Test func vaultMadeWithIdentityHasItsSlot() throws {
    let alice = try vault.identity("alice")
    try vault.handle(identity: alice.path).put("a", "one")
    #expect(try vault.handle().slots().map(\.kind) == [.device, .recipient])
    #expect(try vault.handle().slots().map(\.grant) == [.openTier, .administers])
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
      .addPassphraseSlot(SecretBytes(copying: "open"))
    #expect(told.withLock { $0.last?.recovery?.actions == [.pinIdentity(check: nil)] })
    #expect(
      try vault.handle().slots().map(\.grant)
        == [.openTier, .administers, .administers, .administers])
    // Anyone who had the device secret knew the administration key.
    #expect(try vault.handle().status().check != check)
    // This user has seen the change, so pins to the old key still count here.
    #expect(try vault.handle(identity: bob.path).text("a") == "one")
    // Elsewhere, nothing shows that the new key follows from the pinned one.
    let elsewhere = try TestVault()
    let path = vault.path
    #expect(
      failure { _ = try elsewhere.handle(identity: bob.path) { $0.path = path }.text("a") }?.code
        == .rolledBack)
    try vault.handle().pinIdentity(at: bob.path)
    #expect(try elsewhere.handle(identity: bob.path) { $0.path = path }.text("a") == "one")
    #expect(try vault.handle().verify().problems == [])
  }

  @Test func deviceIsNotPromotedNextToRecipient() throws {
    let alice = try vault.identity("alice")
    try vault.handle(identity: alice.path).put("a", "one")
    try vault.handle(identity: alice.path).addPassphraseSlot(SecretBytes(copying: "open"))
    try vault.handle(identity: alice.path).removeSlot(3)
    #expect(try vault.handle().slots().map(\.grant) == [.openTier, .administers])
    try vault.handle(identity: alice.path).removeSlot(2)
    #expect(try vault.handle().slots().map(\.grant) == [.administers])
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
