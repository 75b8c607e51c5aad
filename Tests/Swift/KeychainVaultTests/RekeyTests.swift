import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesFiles
import Synchronization
import Testing

@testable import KeychainVault

@Suite("New root keys", .timeLimit(.minutes(10)))
struct RekeyTests {
  private let vault: TestVault

  init() throws {
    vault = try TestVault()
  }

  private static let noQuestion: @Sendable (RekeyPlan) throws(KeychainError) -> Bool = { plan in
    Issue.record("nothing was to be lost, but \(plan)")
    return false
  }

  @Test func everyKindOfSlotIsCarried() throws {
    let all = try AllSlots(vault)
    let before = try all.contents(vault.handle(passphrase: "one"))
    let plan = Mutex<RekeyPlan?>(nil)
    let report = try vault.handle(passphrase: "one").rekey(
      keeping: [.keyFile(all.keyFile), .recoveryCodeFile(all.codeFile)],
      keepingRecipient: { $0.number == 6 },
      confirm: { shown in
        plan.withLock { $0 = shown }
        return true
      })
    #expect(plan.withLock(\.self) == report.plan)
    #expect(report.plan.dropped.map(\.number) == [3] && report.plan.forged.isEmpty)
    #expect(try vault.handle().slots() == report.plan.kept)
    #expect(report.plan.kept.map(\.number) == [1, 2, 4, 5, 6])
    #expect(report.plan.kept.map(\.grant) == [.openTier, .root, .root, .root, .root])
    #expect(try vault.handle().status().check == report.check && report.check != all.check)
    let sources: [UnlockSource] = [
      .keyFile(all.keyFile), .recoveryCodeFile(all.codeFile), .identityFile(all.identity),
      .passphraseFile(all.passphraseFile),
    ]
    for source in sources {
      let handle = vault.handle { $0.unlock = source }
      #expect(try all.contents(handle) == before, "\(source)")
      let verified = try handle.verify()
      #expect(verified.isIntact && verified.openedCount == all.items.count)
    }
    #expect(code { _ = try vault.handle(passphrase: "two").text("always") } == .incorrectSecret)
    #expect(try vault.handle().text("always") == "secret of always")
    // The new passphrase slot has another salt, and root keys are random.
    #expect(try vault.handle(passphrase: "one").addPassphraseSlot(secret("three")).number == 7)
  }

  @Test func aDeviceGoesOnWithoutAQuestion() throws {
    let running = vault.handle()
    try running.put("a", "secret")
    let version = try running.credential(for: .test("a"))
    let old = try running.status().check
    let progress = Mutex<[VaultProgress]>([])
    let report = try vault.handle().rekey(confirm: Self.noQuestion) { told in
      progress.withLock { $0.append(told) }
    }
    #expect(report.plan.kept.map(\.grant) == [.root] && report.check != old)
    #expect(progress.withLock { $0.last } == VaultProgress(completed: 1, total: 1))
    #expect(try running.text("a") == "secret")
    #expect(try running.credential(for: .test("a")) == version)
    #expect(try running.put("a", "new").version == 4)
    #expect(try running.status().seenRecord == .current)
    #expect(try vault.handle().verify().isIntact)
  }

  @Test func cachedKeysAreForgottenAndStaleOnesUnused() throws {
    try vault.handle(passphrase: "one").put("a", "secret")
    try vault.handle(passphrase: "one").unlock()
    let cached = vault.handle()
    let held = vault.handle(passphrase: "one")
    #expect(try cached.text("a") == "secret")
    #expect(try held.text("a") == "secret")
    // Restores old keys, as if an unlock at the same moment had cached them.
    let stale = try vault.handle(passphrase: "one").administration().keys
    try vault.handle(passphrase: "one").rekey(confirm: Self.noQuestion)
    #expect(code { _ = try cached.text("a") } == .locked)
    try UnlockCache(idleTime: .seconds(60)).put(stale, fixedTime: nil)
    #expect(code { _ = try cached.text("a") } == .locked)
    #expect(code { _ = try cached.put("a", "new") } == .locked)
    for tier in Tier.allCases {
      UnlockCache(idleTime: .seconds(60)).forget(tier, of: stale.checks.open)
    }
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
          try vault.handle().rekey(confirm: Self.noQuestion)
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

  @Test func olderCopyIsUnchangedAndNotTheVault() throws {
    try vault.handle(passphrase: "one").put("a", "old")
    let copy = vault.folder.path + "/copy.db"
    try FileManager.default.copyItem(atPath: vault.path, toPath: copy)
    let oldRoot = try vault.handle(passphrase: "one").administration().root
    try vault.handle(passphrase: "one").put("a", "new")
    try vault.handle(passphrase: "one").rekey(confirm: Self.noQuestion)
    #expect(try vault.handle(passphrase: "one") { $0.path = copy }.text("a") == "old")
    // The keys in the copy no longer open any tier of the vault.
    let checks = try vault.handle().existingSession().readHead().row.checks
    let old = try TierKeys(root: oldRoot.bytes).checks
    #expect(Tier.allCases.allSatisfy { checks[$0] != old[$0] })
    try FileManager.default.removeItem(atPath: vault.path)
    try FileManager.default.copyItem(atPath: copy, toPath: vault.path)
    #expect(code { _ = try vault.handle(passphrase: "one").text("a") } == .rolledBack)
  }

  @Test func fileHoldsNothingUnderOldKeys() throws {
    let handle = vault.handle()
    for number in 0..<40 { try handle.put("\(number)", String(repeating: "long", count: 500)) }
    let boxes = try handle.existingSession().opened.storage.read(Deadline(after: .seconds(60))) {
      rows throws(KeychainError) in
      var boxes: [Data] = []
      try rows.forEachItem { id, item throws(KeychainError) in
        if let item { boxes.append(item.metadata) }
        if let row = try rows.item(id) { boxes.append(row.secret.suffix(64)) }
      }
      return boxes
    }
    for number in 0..<20 { try handle.remove(.test("\(number)")) }
    let before = try Data(contentsOf: URL(filePath: vault.path))
    // Otherwise deleted rows do stay in the file, or this would test nothing.
    let left = Set(boxes).filter { before.range(of: $0) != nil }
    #expect(left.count > 40)
    try handle.rekey(confirm: Self.noQuestion)
    let after = try Data(contentsOf: URL(filePath: vault.path))
    #expect(!left.contains { after.range(of: $0) != nil })
    #expect(try handle.search(CredentialQuery()).credentials.count == 20)
  }

  @Test func passphrasesThatAreGivenAreKept() throws {
    let all = try AllSlots(vault)
    let asked = Mutex<[UInt32]>([])
    let before = try Data(contentsOf: URL(filePath: vault.path))
    let wrong = code {
      try vault.handle { $0.unlock = .keyFile(all.keyFile) }.rekey(
        asking: { slot, failures throws(KeychainError) in
          asked.withLock { $0.append(slot.number) }
          return try Self.guarded(failures == 1 && slot.number == 2 ? "one" : "wrong")
        }, confirm: { _ in true })
    }
    #expect(wrong == .incorrectSecret)
    #expect(asked.withLock(\.self) == [2, 2, 3, 3, 3])
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
    let report = try vault.handle { $0.unlock = .keyFile(all.keyFile) }.rekey(
      asking: { slot, _ throws(KeychainError) in
        slot.number == 3 ? try Self.guarded("two") : nil
      }, confirm: { _ in true })
    #expect(report.plan.dropped.map(\.number) == [2, 5, 6])
    #expect(try vault.handle(passphrase: "two").text("whenUnlocked") == "secret of whenUnlocked")
    #expect(
      code { _ = try vault.handle(passphrase: "one").text("whenUnlocked") } == .incorrectSecret)
  }

  @Test func refusalChangesNothing() throws {
    let all = try AllSlots(vault)
    let before = try Data(contentsOf: URL(filePath: vault.path))
    let handle = vault.handle(passphrase: "one")
    #expect(code { try handle.rekey(confirm: { _ in false }) } == .cancelled)
    #expect(
      code { try handle.rekey(keeping: [.passphraseFile(all.keyFile)], confirm: { _ in true }) }
        == .incorrectSecret)
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
    #expect(try handle.status().check == all.check)
  }

  @Test func itemsThatNeedAPassphraseKeepIt() throws {
    let all = try AllSlots(vault)
    try vault.handle(passphrase: "one").put("bound", "x", .whenPasscodeSetThisDeviceOnly)
    let handle = vault.handle { $0.unlock = .keyFile(all.keyFile) }
    #expect(code { try handle.rekey(confirm: { _ in true }) } == .refused)
    try handle.rekey(keeping: [.passphraseFile(all.passphraseFile)], confirm: { _ in true })
    #expect(try vault.handle(passphrase: "one").text("bound") == "x")
  }

  @Test func otherDevicesItemsAndSlotsGoAfterQuestion() throws {
    let all = try AllSlots(vault)
    try vault.handle(passphrase: "one").put("theirs", "x", .alwaysThisDeviceOnly)
    try vault.handle(passphrase: "one").put("also theirs", "x", .whenUnlockedThisDeviceOnly)
    // The vault moves to another machine.
    try FileManager.default.removeItem(atPath: vault.deviceSecretPath)
    try vault.handle(passphrase: "one").addDeviceSlot()
    try vault.handle(passphrase: "one").put("ours", "y", .alwaysThisDeviceOnly)
    let report = try vault.handle(passphrase: "one").rekey(
      keeping: [.keyFile(all.keyFile), .recoveryCodeFile(all.codeFile)],
      confirm: { plan in
        plan.otherDeviceItemCount == 3 && plan.dropped.map(\.number) == [1, 3, 6]
      })
    // One of the sample's items is bound as well.
    #expect(report.plan.itemCount == all.items.count + 3)
    let handle = vault.handle(passphrase: "one")
    #expect(try handle.text("ours") == "y" && handle.text("theirs") == nil)
    #expect(try handle.search(CredentialQuery()).credentials.count == all.items.count)
    #expect(try handle.verify().isIntact)
    #expect(try vault.handle().text("ours") == "y")
  }

  @Test func pinnedIdentityStaysAndOthersArePinnedAgain() throws {
    let all = try AllSlots(vault)
    let file = try vault.identity("other-identity")
    let other = file.path
    try vault.handle(passphrase: "one").addRecipientSlot(file.recipient)
    for path in [all.identity, other] { try vault.handle().pinIdentity(at: path) }
    let report = try vault.handle(identity: all.identity).rekey(
      keepingRecipient: { $0.recipient == file.recipient }, confirm: { _ in true })
    #expect(report.plan.kept.filter { $0.kind == .recipient }.count == 2)
    let pins = try vault.handle().identity(at: all.identity).pins
    // A copy with the old keys must no longer be accepted.
    #expect(pins == [report.check])
    let first = vault.handle(identity: all.identity)
    let second = vault.handle(identity: other)
    #expect(try first.text("whenUnlocked") == "secret of whenUnlocked")
    #expect(code { _ = try second.text("whenUnlocked") } == .rolledBack)
    try vault.handle().pinIdentity(at: other, to: report.check)
    #expect(try second.text("whenUnlocked") == "secret of whenUnlocked")
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

  @Test func slotNotMadeByRootKeyIsRemoved() throws {
    try vault.handle(passphrase: "one").put("a", "secret")
    let identity = try vault.handle().createIdentity(at: vault.folder.path + "/identity")
    try vault.handle(passphrase: "one").addRecipientSlot(identity.recipient)
    // A holder of T0 can insert a recipient, and make the state row agree.
    let session = try vault.handle().existingSession()
    let keys = try vault.handle(passphrase: "one").administration().keys
    let forged = try SlotSealing.seal(
      to: VaultRecipient(publicKey: Data(repeating: 9, count: 32)), number: 3,
      root: RootKey.random())
    try session.opened.storage.write(Deadline(after: .seconds(60))) { rows throws(KeychainError) in
      let old = try rows.slots().intact.first { $0.number == 3 }
      var writer = try VaultWriter(
        rows: rows, sealing: ItemSealing(keys: keys, device: nil),
        state: try StateRow.open(rows.stateBox(), under: keys.open.bytes))
      if let old { try writer.remove(old) }
      try writer.put(forged)
      try writer.finish()
    }
    let handle = vault.handle(passphrase: "one")
    #expect(try handle.verify().isIntact)
    #expect(code { _ = try handle.addPassphraseSlot(secret("two")) } == .damaged)
    let report = try handle.rekey(confirm: { $0.forged == [3] })
    #expect(report.plan.kept.map(\.number) == [1, 2])
    #expect(try handle.text("a") == "secret")
    #expect(try handle.addPassphraseSlot(secret("two")).number == 3)
  }

  @Test func damagedVaultKeepsItsKeys() throws {
    try vault.handle().put("a", "secret")
    try vault.handle().put("b", "secret")
    let session = try vault.handle().existingSession()
    try session.opened.storage.write(Deadline(after: .seconds(60))) { rows throws(KeychainError) in
      try rows.removeItem(
        ItemSealing(
          keys: try vault.handle().administrationKeys(), device: nil
        ).id(of: .test("b")))
    }
    let before = try Data(contentsOf: URL(filePath: vault.path))
    #expect(code { try vault.handle().rekey(confirm: { _ in true }) } == .damaged)
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
  }

  @Test func slotsThatChangeMeanwhileAreNotLost() throws {
    let all = try AllSlots(vault)
    let handle = vault.handle(passphrase: "one")
    let failure = code {
      try handle.rekey(
        keeping: [.keyFile(all.keyFile)],
        confirm: { _ throws(KeychainError) in
          try vault.handle(passphrase: "one").addPassphraseSlot(Self.guarded("three"))
          return true
        })
    }
    #expect(failure == .busy)
    let replaced = code {
      try handle.rekey(
        keeping: [.keyFile(all.keyFile)],
        confirm: { _ throws(KeychainError) in
          try vault.handle(passphrase: "one").changePassphrase(to: Self.guarded("other"))
          return true
        })
    }
    #expect(replaced == .busy)
    #expect(try vault.handle(passphrase: "three").verify().isIntact)
  }

  private static func guarded(_ text: String) throws(KeychainError) -> SecretBytes {
    do throws(SecretsError) {
      return try SecretBytes(copying: text)
    } catch {
      throw KeychainError(error)
    }
  }

  private func secret(_ text: String) throws -> SecretBytes { try SecretBytes(copying: text) }

  private func code(_ body: () throws -> Void) -> KeychainError.Code? {
    do { try body() } catch { return (error as? KeychainError)?.code ?? .internalFailure }
    return nil
  }
}

extension Vault {
  fileprivate func administrationKeys() throws(KeychainError) -> TierKeys {
    try administration().keys
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
  let check: VaultCheck?
  let items: [CredentialIdentity]

  init(_ vault: TestVault) throws {
    let handle = vault.handle(passphrase: "one")
    items = try Accessibility.allCases
      .filter { !$0.isThisDeviceOnly || $0 == .afterFirstUnlockThisDeviceOnly }
      .map { try handle.put("\($0)", "secret of \($0)", $0) }
      .map(\.identity)
    try handle.addPassphraseSlot(SecretBytes(copying: "two"))
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
    try handle.addRecipientSlot(made.recipient)
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
