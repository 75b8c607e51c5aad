import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesSystem
import Testing

@testable import KeychainVault

/// A vault of several members: Alice administers it, and a recovery code opens it.
struct SharedVault {
  let vault: TestVault
  let alice: IdentityDescription
  let code: String

  init() throws {
    let vault = try TestVault()
    self.vault = vault
    alice = try vault.identity("alice")
    var written = ""
    try vault.handle().createShared(identityFile: alice.path, name: "alice") {
      code throws(KeychainError) in
      written = try code.text().withBytes { $0.text ?? "" }
      return true
    }
    code = written
  }

  /// A handle of a member, with what this machine has seen.
  func handle(_ member: IdentityDescription) -> Vault { vault.handle(identity: member.path) }

  var administrator: Vault { handle(alice) }

  /// Adds a member with an identity of their own, which is not pinned.
  func add(_ name: String, _ grant: SlotGrant?) throws -> IdentityDescription {
    let elsewhere = try TestVault()
    let member = try elsewhere.handle().createIdentity(at: vault.folder.path + "/" + name)
    try administrator.addRecipientSlot(member.recipient, name: name, grant: grant)
    return member
  }
}

@Suite("Vaults that members share")
struct SharedVaultTests {
  private let shared: SharedVault
  private var vault: TestVault { shared.vault }

  init() throws { shared = try SharedVault() }

  @Test func newSharedVaultHasItsMakerAndOneCode() throws {
    let slots = try shared.administrator.slots()
    #expect(slots.map(\.kind) == [.recipient, .recoveryCode])
    #expect(slots.map(\.grant) == [.administers, .administers])
    try shared.administrator.put("a", "one")
    #expect(try vault.handle(recoveryCode: shared.code).text("a") == "one")
    #expect(try shared.administrator.verify().problems == [])
  }

  @Test func unconfirmedCodeMakesNoVault() throws {
    let other = try TestVault()
    let identity = try other.identity("alice")
    let error = failure {
      try other.handle().createShared(identityFile: identity.path) { _ in false }
    }
    #expect(error?.code == .cancelled)
    #expect(!FileManager.default.fileExists(atPath: other.path))
  }

  @Test func memberWhoWritesSignsForOthers() throws {
    let bob = try shared.add("bob", nil)
    #expect(try shared.administrator.slots().last?.grant == .readsAndWrites)
    try shared.handle(bob).put("b", "two")
    #expect(try shared.administrator.text("b") == "two")
    try shared.administrator.put("a", "one")
    #expect(try shared.handle(bob).text("a") == "one")
    #expect(try shared.handle(bob).verify().problems == [])
  }

  @Test func readerCannotWrite() throws {
    let carol = try shared.add("carol", .reads)
    try shared.administrator.put("a", "one")
    #expect(try shared.handle(carol).text("a") == "one")
    let changes: [() throws -> Void] = [
      { try shared.handle(carol).put("b", "two") }, { try shared.handle(carol).put("a", "two") },
      { try shared.handle(carol).remove(.test("a")) },
    ]
    for change in changes {
      let error = failure(change)
      #expect(error?.code == .refused && error?.message.contains("carol") == true)
    }
    #expect(try shared.administrator.text("a") == "one")
  }

  /// A reader has every key that items are sealed with, and nothing that signs for a writer.
  @Test func commitOfAReaderDoesNotCount() throws {
    let carol = try shared.add("carol", .reads)
    try shared.administrator.put("a", "one")
    let raw = try RawVault(vault, shared.administrator)
    let handle = shared.handle(carol)
    let session = try handle.existingSession()
    let file = try handle.configuration.identityFile(carol.path, "carol")
    var keys = try handle.unlocker.member(session.opened, session.deadline).keys
    #expect(keys.signer == nil)
    keys.signer = file.identity.keys.signer(3)
    try raw.append(keys) { writer throws(KeychainError) in
      try writer.remove(writer.sealing.id(of: .test("a")))
    }
    // It is an unfinished write to everybody, and the next writer cuts it off.
    for member in [shared.alice, carol] { #expect(try shared.handle(member).text("a") == "one") }
    #expect(try shared.administrator.verify().hasUnfinishedWrite)
    try shared.administrator.put("b", "two")
    #expect(try !shared.administrator.verify().hasUnfinishedWrite)
    #expect(try shared.handle(carol).text("a") == "one" && shared.handle(carol).text("b") == "two")
  }

  @Test func onlyAdministratorsChangeMembers() throws {
    for grant in [SlotGrant.readsAndWrites, .reads] {
      let member = try shared.add("\(grant)", grant)
      let error = failure { try shared.handle(member).addRecipientSlot(shared.alice.recipient) }
      #expect(error?.code == .refused)
      #expect(failure { try shared.handle(member).rekey { _ in true } }?.code == .refused)
    }
    let dora = try shared.add("dora", .administers)
    #expect(
      try shared.handle(dora).addRecipientSlot(
        vault.identity("erin").recipient, grant: .reads
      ).grant == .reads)
  }

  @Test func slotThatCannotSignIsRefused() throws {
    let key = try vault.file("key", String(repeating: "k", count: 32))
    let changes: [() throws -> Void] = [
      { try shared.administrator.addPassphraseSlot(SecretBytes(copying: "open")) },
      { try shared.administrator.addKeyFileSlot(path: key) },
      { try shared.administrator.addDeviceSlot() },
      { try shared.administrator.addRecoveryCodeSlot { _ in true } },
      { try shared.administrator.put("x", "y", .alwaysThisDeviceOnly) },
      { try shared.administrator.addRecipientSlot(shared.alice.recipient, grant: .openTier) },
    ]
    for (index, change) in changes.enumerated() {
      #expect(failure(change)?.code == .refused, "change \(index)")
    }
  }

  @Test func openerOfASharedVaultStays() throws {
    for keepsKeys in [true, false] {
      let error = failure { try shared.administrator.removeSlot(1, keepingKeys: keepsKeys) }
      #expect(error?.code == .refused)
    }
    // Nobody could write any more, but the code still administers.
    try vault.handle(recoveryCode: shared.code).removeSlot(1)
    #expect(try vault.handle(recoveryCode: shared.code).slots().map(\.number) == [2])
  }

  @Test func rekeyCarriesAllMembers() throws {
    let (bob, carol) = (try shared.add("bob", nil), try shared.add("carol", .reads))
    try shared.administrator.put("a", "one")
    let report = try shared.administrator.rekey { plan in
      plan.kept.map(\.name) == ["alice", "", "bob", "carol"]
    }
    #expect(!report.plan.changesAdministrationKey)
    for member in [shared.alice, bob, carol] {
      #expect(try shared.handle(member).text("a") == "one")
    }
    try shared.handle(bob).put("b", "two")
    #expect(failure { try shared.handle(carol).put("b", "three") }?.code == .refused)
    #expect(try vault.handle(recoveryCode: shared.code).verify().problems == [])
  }

  /// A running program holds keys that signed once.
  @Test func removedWriterWritesNoMore() throws {
    let bob = try shared.add("bob", nil)
    let running = shared.handle(bob)
    try running.put("b", "one")
    try shared.administrator.removeSlot(3, keepingKeys: true)
    #expect(throws: KeychainError.self) { try running.put("b", "two") }
    #expect(try shared.administrator.text("b") == "one")
    #expect(try shared.administrator.verify().problems == [])
  }

  @Test func writerWhoBecomesReaderWritesNoMore() throws {
    let bob = try shared.add("bob", nil)
    let running = shared.handle(bob)
    try running.put("b", "one")
    try shared.administrator.removeSlot(3, keepingKeys: true)
    try shared.administrator.addRecipientSlot(bob.recipient, name: "bob", grant: .reads)
    #expect(failure { try running.put("b", "two") }?.code == .refused)
    #expect(try running.text("b") == "one")
  }
}
