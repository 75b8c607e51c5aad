import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesSystem
import Testing

@testable import KeychainVault

/// What others see after the administration key changed.
@Suite("New administration keys are followed or compared", .timeLimit(.minutes(5)))
struct SuccessionTests {
  private let shared: SharedVault
  private let bob: IdentityDescription
  private let dora: IdentityDescription

  /// Bob's machine, which has seen the vault.
  private let elsewhere: TestVault

  /// Creates a vault with slots 1 Alice, 2 recovery code, 3 Bob, 4 Dora, who administers it.
  init() throws {
    shared = try SharedVault()
    bob = try shared.add("bob", nil)
    dora = try shared.add("dora", .administers)
    try shared.administrator.put("a", "one")
    elsewhere = try TestVault()
    #expect(try theirs(bob).text("a") == "one")
  }

  /// A handle of a member on Bob's machine.
  private func theirs(_ member: IdentityDescription) -> Vault {
    let path = shared.vault.path
    return elsewhere.handle(identity: member.path) { $0.path = path }
  }

  private var recovered: Vault { shared.vault.handle(recoveryCode: shared.code) }

  @Test func changeThatTheCodeSignedIsFollowed() throws {
    try theirs(bob).pinIdentity(at: bob.path)
    let old = try #require(try shared.administrator.status().check)
    let report = try recovered.rekey(removing: 4) {
      $0.changesAdministrationKey && $0.isSignedByRecoveryCode
    }
    #expect(report.check != old)
    #expect(try theirs(bob).text("a") == "one")
    try theirs(bob).put("b", "two")
    #expect(try shared.administrator.text("b") == "two")
    #expect(try theirs(bob).verify().problems == [])
    // The record trusts the new key now, and the pin is one of an old key.
    #expect(try theirs(bob).text("b") == "two")
    #expect(try theirs(bob).identity(at: bob.path).pins == [old])
  }

  @Test func changeWithoutTheCodeIsCompared() throws {
    let report = try shared.administrator.rekey(removing: 4) {
      $0.changesAdministrationKey && !$0.isSignedByRecoveryCode
    }
    let error = failure { _ = try theirs(bob).text("a") }
    #expect(error?.code == .rolledBack && error?.message.contains("administration key") == true)
    // Bob asks Alice for the check, and names it.
    let wrong = try #require(VaultCheck(text: String(repeating: "a", count: 32)))
    try theirs(bob).pinIdentity(at: bob.path, to: wrong)
    #expect(failure { _ = try theirs(bob).text("a") }?.code == .rolledBack)
    try theirs(bob).pinIdentity(at: bob.path, to: report.check, replacing: true)
    #expect(try theirs(bob).text("a") == "one")
    try theirs(bob).put("b", "two")
    #expect(try shared.administrator.text("b") == "two")
  }

  /// The record alone changes, which takes no slot that may write.
  @Test func comparedCheckIsAcceptedWithoutWriting() throws {
    let report = try shared.administrator.rekey(newAdministrationKey: true) { _ in true }
    let before = try shared.vault.bytes
    #expect(failure { try theirs(bob).acceptRestored { _ in true } }?.code == .refused)
    let wrong = theirs(bob).trusting(
      try #require(VaultCheck(text: String(repeating: "a", count: 32))))
    #expect(failure { try wrong.acceptRestored { _ in true } } != nil)
    #expect(failure { _ = try theirs(bob).text("a") }?.code == .rolledBack)
    try theirs(bob).trusting(report.check).acceptRestored { $0.isAdministrationKeyChanged }
    #expect(try shared.vault.bytes == before)
    #expect(try theirs(bob).text("a") == "one")
  }

  @Test func pinOfAnOldKeyDoesNotFollowAlone() throws {
    try theirs(bob).pinIdentity(at: bob.path)
    try recovered.rekey(removing: 4) { _ in true }
    // A machine that has not seen the vault knows no recovery code.
    let third = try TestVault()
    let path = shared.vault.path
    let error = failure { _ = try third.handle(identity: bob.path) { $0.path = path }.text("a") }
    #expect(error?.code == .rolledBack)
    #expect(
      error?.recovery?.actions.contains { action in
        if case .pinIdentity = action { true } else { false }
      } == true)
  }

  @Test func otherRecoveryCodeIsNotTrusted() throws {
    // A code that Bob's machine has not seen, because it was replaced meanwhile.
    try shared.administrator.removeSlot(2, keepingKeys: true)
    var code = ""
    try shared.administrator.addRecoveryCodeSlot { made throws(KeychainError) in
      code = try made.text().withBytes { $0.text ?? "" }
      return true
    }
    try shared.vault.handle(recoveryCode: code).rekey(removing: 4) { _ in true }
    #expect(failure { _ = try theirs(bob).text("a") }?.code == .rolledBack)
  }

  @Test func rivalEpochIsRefusedWhereTheRealOneWasSeen() throws {
    let copy = shared.vault.folder.path + "/copy.db"
    try FileManager.default.copyItem(atPath: shared.vault.path, toPath: copy)
    try recovered.rekey(removing: 4) { _ in true }
    #expect(try theirs(bob).text("a") == "one")
    // Dora still has the old root and administration key, and makes an epoch of her own.
    let hers = try TestVault()
    for change in [{ try $0.rekey { _ in true } }, { try $0.rekey(removing: 1) { _ in true } }]
      as [(Vault) throws -> RekeyReport]
    {
      let rival = shared.vault.folder.path + "/rival.db"
      try? FileManager.default.removeItem(atPath: rival)
      try FileManager.default.copyItem(atPath: copy, toPath: rival)
      _ = try change(hers.handle(identity: dora.path) { $0.path = rival })
      try FileManager.default.removeItem(atPath: hers.folder.path + "/state")
      try replaceVault(by: rival)
      #expect(failure { _ = try theirs(bob).text("a") }?.code == .rolledBack)
    }
  }

  /// A limit that the specification names: a reader who has not seen the new epoch cannot know it.
  @Test func rivalEpochIsAcceptedWhereOnlyTheOldOneWasSeen() throws {
    let hers = try TestVault()
    let path = shared.vault.path
    try hers.handle(identity: dora.path) { $0.path = path }.rekey { _ in true }
    #expect(try theirs(bob).text("a") == "one")
  }

  @Test func commitOfARemovedWriterDoesNotCount() throws {
    let handle = theirs(bob)
    let session = try handle.existingSession()
    let keys = try handle.unlocker.signingKeys(session.opened, session.deadline)
    try shared.administrator.removeSlot(3, keepingKeys: true)
    let raw = try RawVault(shared.vault, shared.administrator)
    try raw.append(keys) { writer throws(KeychainError) in
      try writer.remove(writer.sealing.id(of: .test("a")))
    }
    #expect(try shared.administrator.text("a") == "one")
    #expect(try theirs(dora).text("a") == "one")
    try shared.administrator.put("b", "two")
    #expect(try theirs(dora).text("b") == "two")
  }

  /// Each step is signed by the same code, with the key that it had in the list before.
  @Test func codeIsFollowedAgainAndAgain() throws {
    var checks = [try #require(try shared.administrator.status().check)]
    for _ in 0..<2 {
      checks.append(try recovered.rekey(newAdministrationKey: true) { _ in true }.check)
    }
    #expect(Set(checks).count == 3)
    #expect(try theirs(bob).text("a") == "one")
    checks.append(try recovered.rekey(newAdministrationKey: true) { _ in true }.check)
    #expect(try theirs(bob).text("a") == "one" && theirs(bob).verify().problems == [])
    #expect(try theirs(bob).status().check == checks.last)
    try theirs(bob).put("b", "two")
    #expect(try shared.administrator.text("b") == "two")
  }

  private func replaceVault(by path: String) throws {
    try FileManager.default.removeItem(atPath: shared.vault.path)
    try FileManager.default.copyItem(atPath: path, toPath: shared.vault.path)
  }
}
