import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesSystem
import Synchronization
import Testing

@testable import KeychainVault

@Suite("New root keys", .timeLimit(.minutes(10)))
struct RekeyTests {
  private let vault: TestVault

  init() throws {
    vault = try TestVault()
  }

  private static let losingNothing: @Sendable (RekeyPlan) throws(KeychainError) -> Bool = { plan in
    if plan.losesItems { Issue.record("nothing was to be lost, but \(plan)") }
    return !plan.losesItems
  }

  @Test func everyListedSlotIsCarriedWithoutSecrets() throws {
    let all = try AllSlots(vault)
    let before = try all.contents(vault.handle(passphrase: "one"))
    let plan = Mutex<RekeyPlan?>(nil)
    let report = try vault.handle(passphrase: "one").rekey(confirm: { shown in
      plan.withLock { $0 = shown }
      return true
    })
    #expect(plan.withLock(\.self) == report.plan)
    #expect(try vault.handle().slots() == report.plan.kept)
    #expect(report.plan.kept.map(\.number) == [1, 2, 3, 4, 5, 6])
    #expect(report.plan.kept.map(\.grant) == [.openTier] + Array(repeating: .administers, count: 5))
    #expect(report.plan.kept.map(\.name) == ["", "", "two", "", "", "alice"])
    #expect(report.plan.kept.last?.recipient == all.recipient)
    // The administration key stays, and with it the check.
    #expect(try vault.handle().status().check == all.check && report.check == all.check)
    #expect(!report.plan.changesAdministrationKey)
    let sources: [UnlockSource] = [
      .keyFile(all.keyFile), .recoveryCodeFile(all.codeFile), .identityFile(all.identity),
      .passphraseFile(all.passphraseFile),
    ]
    for source in sources {
      let handle = vault.handle { $0.unlock = source }
      #expect(try all.contents(handle) == before, "\(source)")
      let verified = try handle.verify()
      #expect(verified.problems == [] && verified.openedCount == all.items.count)
    }
    #expect(try vault.handle(passphrase: "two").text("whenUnlocked") == "secret of whenUnlocked")
    #expect(try vault.handle().text("always") == "secret of always")
    #expect(try vault.handle(passphrase: "one").addPassphraseSlot(secret("three")).number == 7)
  }

  @Test func aDeviceGoesOnWithoutASecret() throws {
    let running = vault.handle()
    try running.put("a", "secret")
    let version = try running.credential(for: .test("a"))
    let old = try running.existingSession().head
    let progress = Mutex<[VaultProgress]>([])
    let report = try vault.handle().rekey(confirm: Self.losingNothing) { told in
      progress.withLock { $0.append(told) }
    }
    let new = try running.existingSession().head
    #expect(new.id == old.id && new.administration == old.administration)
    #expect(new.epoch == old.epoch + 1 && new.parts.checks != old.parts.checks)
    #expect(report.plan.kept.map(\.grant) == [.administers])
    #expect(progress.withLock { $0.last } == VaultProgress(completed: 1, total: 1))
    #expect(try running.text("a") == "secret")
    #expect(try running.credential(for: .test("a")) == version)
    #expect(try running.put("a", "new").version != version?.version)
    #expect(try running.status().seenRecord == .current)
    #expect(try vault.handle().verify().problems == [])
  }

  @Test func cachedKeysAreForgottenAndStaleOnesUnused() throws {
    try vault.handle(passphrase: "one").put("a", "secret")
    try vault.handle(passphrase: "one").unlock()
    let cached = vault.handle()
    let held = vault.handle(passphrase: "one")
    #expect(try cached.text("a") == "secret")
    #expect(try held.text("a") == "secret")
    // Restores old keys, as if an unlock at the same moment had cached them.
    let admin = try vault.handle(passphrase: "one").administration()
    let id = admin.head.id
    try vault.handle(passphrase: "one").rekey(confirm: Self.losingNothing)
    #expect(code { _ = try cached.text("a") } == .locked)
    try UnlockCache(idleTime: .seconds(60)).put(
      admin.keys, of: id, at: [id.bytes.hexadecimal], fixedTime: nil)
    #expect(code { _ = try cached.text("a") } == .locked)
    #expect(code { _ = try cached.put("a", "new") } == .locked)
    for tier in Tier.allCases { UnlockCache(idleTime: .seconds(60)).forget(tier, of: id) }
    #expect(try held.text("a") == "secret")
    try vault.handle(passphrase: "one").unlock()
    #expect(try cached.text("a") == "secret")
  }

  @Test func writersWaitAndWriteUnderTheNewKeys() async throws {
    for number in 0..<20 { try vault.handle().put("old\(number)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        group.addTask {
          let handle = vault.handle()
          for number in 0..<10 { try handle.put("\(writer).\(number)", "of \(writer)") }
        }
      }
      group.addTask {
        for _ in 0..<3 {
          try vault.handle().rekey(confirm: Self.losingNothing)
        }
      }
      try await group.waitForAll()
    }
    let handle = vault.handle()
    for writer in 0..<3 {
      for number in 0..<10 { #expect(try handle.text("\(writer).\(number)") == "of \(writer)") }
    }
    #expect(try handle.search(CredentialQuery()).credentials.count == 50)
    #expect(try handle.verify().isIntact)
  }

  private static func passphrase(_ text: String) throws(KeychainError) -> SecretBytes {
    try SecretBytes(copying: text)
  }

  /// A base changes the head, and nothing of who opens the vault.
  @Test func aBaseOfAnotherWriterStopsNoChangeOfMembers() throws {
    try vault.handle().put("a", "secret")
    func write(_ handle: Vault? = nil) throws(KeychainError) {
      do {
        try (handle ?? vault.handle()).put("b\(UUID())")
        try (handle ?? vault.handle()).compact()
      } catch { throw error as? KeychainError ?? .slotsChanged }
    }
    try vault.handle().rekey(confirm: { _ throws(KeychainError) in
      try write()
      return true
    })
    try vault.handle().addRecoveryCodeSlot { _ throws(KeychainError) in
      try write()
      return true
    }
    _ = try vault.handle().addPassphraseSlot(progress: nil) { () throws(KeychainError) in
      try write()
      return try Self.passphrase("one")
    }
    let one = vault.handle(passphrase: "one")
    try one.changePassphrase { _ throws(KeychainError) in
      try write(one)
      return try Self.passphrase("two")
    }
    let handle = vault.handle(passphrase: "two")
    #expect(try handle.text("a") == "secret")
    #expect(try handle.search(CredentialQuery()).credentials.count == 5)
    // Another list of members does.
    let refused = failure {
      try handle.rekey(confirm: { _ throws(KeychainError) in
        do { try handle.addPassphraseSlot(secret("three")) } catch { throw .slotsChanged }
        return true
      })
    }
    #expect(refused?.code == .busy)
  }

  @Test func olderCopyIsUnchangedAndNotTheVault() throws {
    try vault.handle(passphrase: "one").put("a", "old")
    let copy = vault.folder.path + "/copy.db"
    try FileManager.default.copyItem(atPath: vault.path, toPath: copy)
    let old = try vault.handle(passphrase: "one").administration().keys
    try vault.handle(passphrase: "one").put("a", "new")
    try vault.handle(passphrase: "one").rekey(confirm: Self.losingNothing)
    #expect(try vault.handle(passphrase: "one") { $0.path = copy }.text("a") == "old")
    // The keys in the copy no longer open any tier of the vault.
    let new = try vault.handle().existingSession().head
    #expect(Tier.allCases.allSatisfy { new.parts.checks[$0] != old.checks[$0] })
    #expect(!new.owns(old))
    try FileManager.default.removeItem(atPath: vault.path)
    try FileManager.default.copyItem(atPath: copy, toPath: vault.path)
    #expect(code { _ = try vault.handle(passphrase: "one").text("a") } == .rolledBack)
  }

  @Test func fileHoldsNothingUnderOldKeys() throws {
    let handle = vault.handle()
    for number in 0..<40 { try handle.put("\(number)", String(repeating: "long", count: 500)) }
    let raw = try RawVault(vault, handle)
    var boxes: [Data] = []
    for number in 0..<40 {
      let place = try raw.boxPlace(of: "\(number)")
      boxes.append(try raw.contents.read(place..<place + 64))
    }
    try handle.withTransaction { transaction in
      for number in 0..<20 { try transaction.put("\(number)", "replaced") }
    }
    let before = try vault.bytes
    // Otherwise replaced boxes do stay in the file, or this would test nothing.
    let left = boxes.filter { before.range(of: $0) != nil }
    #expect(left.count == 40)
    try handle.rekey(confirm: Self.losingNothing)
    let after = try Data(contentsOf: URL(filePath: vault.path))
    #expect(!left.contains { after.range(of: $0) != nil })
    #expect(try handle.search(CredentialQuery()).credentials.count == 40)
  }

  @Test func refusalChangesNothing() throws {
    let all = try AllSlots(vault)
    let before = try Data(contentsOf: URL(filePath: vault.path))
    #expect(
      code { try vault.handle(passphrase: "one").rekey(confirm: { _ in false }) } == .cancelled)
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
    #expect(try vault.handle().status().check == all.check)
  }

  @Test func otherDevicesItemsGoAfterQuestion() throws {
    let all = try AllSlots(vault)
    try vault.handle(passphrase: "one").put("theirs", "x", .alwaysThisDeviceOnly)
    try vault.handle(passphrase: "one").put("also theirs", "x", .whenUnlockedThisDeviceOnly)
    // The vault moves to another machine.
    let theirs = try SecretBytes(
      copying: Data(contentsOf: URL(filePath: vault.deviceSecretPath)).base64EncodedString())
    try FileManager.default.removeItem(atPath: vault.deviceSecretPath)
    try vault.handle(passphrase: "one").addDeviceSlot()
    try vault.handle(passphrase: "one").put("ours", "y", .alwaysThisDeviceOnly)
    let report = try vault.handle(passphrase: "one").rekey { plan in
      plan.otherDeviceItemCount == 3 && plan.kept.map(\.number) == [1, 2, 3, 4, 5, 6, 7]
    }
    // One of the sample's items is bound as well.
    #expect(report.plan.itemCount == all.items.count + 3)
    let handle = vault.handle(passphrase: "one")
    #expect(try handle.text("ours") == "y" && handle.text("theirs") == nil)
    #expect(try handle.search(CredentialQuery()).credentials.count == all.items.count)
    #expect(try handle.verify().problems == [])
    #expect(try vault.handle().text("ours") == "y")
    // The other device's slot got the new keys, too.
    try restoreDevice(theirs)
    #expect(try vault.handle().text("always") == "secret of always")
  }

  private func restoreDevice(_ secret: borrowing SecretBytes) throws {
    let text = secret.withBytes { $0.text ?? "" }
    try #require(Data(base64Encoded: text)).write(to: URL(filePath: vault.deviceSecretPath))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: vault.deviceSecretPath)
  }

  /// A person decides what becomes of items that don't open.
  @Test func damagedItemsGoIfAPersonAgrees() throws {
    try vault.handle().put("a", "secret")
    try vault.handle().put("b", "secret")
    try vault.damage(at: RawVault(vault, vault.handle()).boxPlace(of: "b") + 30)
    let before = try vault.bytes
    let error = failure { try vault.handle().rekey(confirm: { _ in true }) }
    #expect(error?.code == .damaged && error?.recovery?.actions.contains(.dropDamaged) == true)
    #expect(try vault.bytes == before)
    let plan = Mutex<RekeyPlan?>(nil)
    let refused = code {
      try vault.handle().rekey(
        droppingDamaged: true,
        confirm: { shown in
          plan.withLock { $0 = shown }
          return false
        })
    }
    #expect(refused == .cancelled)
    #expect(plan.withLock(\.self).map { $0.damagedItems.count == 1 && $0.losesItems } == true)
    #expect(try vault.bytes == before)
    let report = try vault.handle().rekey(droppingDamaged: true, confirm: { _ in true })
    #expect(report.plan.damagedItems.count == 1 && report.plan.itemCount == 2)
    #expect(try vault.handle().text("a") == "secret" && vault.handle().text("b") == nil)
    #expect(try vault.handle().verify().problems == [])
  }

  /// Somebody who must go doesn't stay because of them.
  @Test func damagedItemsDoNotBlockARemoval() throws {
    // A handle that has read the page goes on with what it verified.
    var handle: Vault { vault.handle(passphrase: "one") }
    for name in ["a", "b", "c"] { try handle.put(name, "secret") }
    try handle.addPassphraseSlot(secret("two"))
    try handle.put("d", "secret")
    let contents = try RawVault(vault, handle).contents
    let page = try #require(contents.index.pages[Int(Tier.unlocked.rawValue)].first)
    try vault.damage(at: page.place + 50)
    #expect(code { try handle.removeSlot(3) } == .damaged)
    // Where the keys stay, so do all items.
    #expect(code { try handle.removeSlot(3, keepingKeys: true) } == .damaged)
    try handle.removeSlot(3, droppingDamaged: true) { !$0.damagedItems.isEmpty }
    #expect(code { _ = try vault.handle(passphrase: "two").text("d") } == .incorrectSecret)
    #expect(try handle.text("d") == "secret" && handle.text("a") == nil)
    #expect(try handle.verify().problems == [])
  }

  @Test func slotsThatChangeMeanwhileAreNotLost() throws {
    _ = try AllSlots(vault)
    let handle = vault.handle(passphrase: "one")
    let failure = code {
      try handle.rekey { _ throws(KeychainError) in
        try vault.handle(passphrase: "one").addPassphraseSlot(Self.guarded("three"))
        return true
      }
    }
    #expect(failure == .busy)
    let replaced = code {
      try handle.rekey { _ throws(KeychainError) in
        try vault.handle(passphrase: "one").changePassphrase(to: Self.guarded("other"))
        return true
      }
    }
    #expect(replaced == .busy)
    #expect(try vault.handle(passphrase: "three").verify().problems == [])
  }

  @Test func pinnedIdentityOutlivesNewRootKey() throws {
    let all = try AllSlots(vault)
    try vault.handle().pinIdentity(at: all.identity)
    try vault.handle(passphrase: "one").rekey { _ in true }
    #expect(try vault.handle(identity: all.identity).text("whenUnlocked") != nil)
  }

  @Test func newAdministrationKeyPinsTheOpener() throws {
    let all = try AllSlots(vault)
    try vault.handle().pinIdentity(at: all.identity)
    let report = try vault.handle(identity: all.identity).rekey(newAdministrationKey: true) {
      $0.changesAdministrationKey && !$0.isSignedByRecoveryCode
    }
    #expect(report.check != all.check)
    // A copy under the old key must no longer be accepted.
    #expect(try vault.handle().identity(at: all.identity).pins == [report.check])
    #expect(try vault.handle(identity: all.identity).text("whenUnlocked") != nil)
    // This user has seen both keys.
    #expect(try vault.handle(passphrase: "two").text("whenUnlocked") != nil)
    #expect(try vault.handle().verify().problems == [])
  }

  @Test func firstPassphraseKeepsPinnedIdentityThatAddsIt() throws {
    let path = vault.folder.path + "/identity"
    try vault.handle().put("a", "secret")
    let identity = try vault.handle().createIdentity(at: path)
    #expect(identity.pins.count == 1)
    try vault.handle().addRecipientSlot(identity.recipient)
    try vault.handle { $0.unlock = .identityFile(path) }.addPassphraseSlot(secret("one"))
    #expect(try vault.handle { $0.unlock = .identityFile(path) }.text("a") == "secret")
  }

  private static func guarded(_ text: String) throws(KeychainError) -> SecretBytes {
    try SecretBytes(copying: text)
  }

  private func secret(_ text: String) throws -> SecretBytes { try SecretBytes(copying: text) }

  private func code(_ body: () throws -> Void) -> KeychainError.Code? {
    do { try body() } catch { return (error as? KeychainError)?.code ?? .internalFailure }
    return nil
  }
}

/// A vault with a slot of each kind: 1 device, 2 and 3 passphrases "one" and "two", 4 key file, 5
/// recovery code, 6 recipient; and an item of each accessibility except the one that needs a
/// passphrase.
private struct AllSlots {
  let keyFile: String
  let codeFile: String
  let passphraseFile: String
  let identity: String
  let recipient: VaultRecipient
  let check: VaultCheck?
  let items: [CredentialIdentity]

  init(_ vault: TestVault) throws {
    let handle = vault.handle(passphrase: "one")
    items = try Accessibility.allCases
      .filter { !$0.isThisDeviceOnly || $0 == .afterFirstUnlockThisDeviceOnly }
      .map { try handle.put("\($0)", "secret of \($0)", $0) }
      .map(\.identity)
    try handle.addPassphraseSlot(SecretBytes(copying: "two"), name: "two")
    keyFile = try vault.file("key-file", String(repeating: "k", count: 32))
    passphraseFile = try vault.file("passphrase", "one\n")
    try handle.addKeyFileSlot(path: keyFile)
    let text = Mutex("")
    try handle.addRecoveryCodeSlot { code throws(KeychainError) in
      let shown = try code.text().withBytes { String(decoding: $0.array, as: UTF8.self) }
      text.withLock { $0 = shown }
      return true
    }
    codeFile = try vault.file("code", text.withLock(\.self) + "\n")
    identity = vault.folder.path + "/identity"
    // Created where no vault is known, so that it is not pinned.
    let made = try TestVault().handle().createIdentity(at: identity)
    recipient = made.recipient
    try handle.addRecipientSlot(recipient, name: "alice")
    check = try handle.status().check
  }

  /// Returns everything that must stay.
  func contents(_ handle: Vault) throws -> [String] {
    let found = try handle.search(CredentialQuery())
    #expect(found.credentials.count == items.count && found.lockedCount == 0)
    return try found.credentials.map { credential in
      "\(credential) \(try handle.text(credential.identity.account) ?? "-")"
    }
  }
}
