import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesFiles
import Testing

@testable import KeychainVault

/// What a person accepts, and what changes then.
@Suite("Restored vaults are accepted", .timeLimit(.minutes(5)))
struct AcceptanceTests {
  private let vault: TestVault

  /// Creates a vault with slots 1 device and 2 passphrase.
  init() throws {
    vault = try TestVault()
    try vault.handle(passphrase: "one").put("a", "old")
  }

  private var handle: Vault { vault.handle(passphrase: "one") }
  private var copy: String { vault.folder.path + "/copy.db" }

  private func takeCopy() throws {
    try FileManager.default.copyItem(atPath: vault.path, toPath: copy)
  }

  private func restoreCopy() throws {
    try FileManager.default.removeItem(atPath: vault.path)
    try FileManager.default.copyItem(atPath: copy, toPath: vault.path)
  }

  @Test func nothingIsAskedAboutAGoodVault() throws {
    let isAccepted = try handle.acceptRestored { differences throws(KeychainError) in
      Issue.record("\(differences)")
      return true
    }
    #expect(!isAccepted)
  }

  @Test func olderStateIsAcceptedAfterTheNewerOne() throws {
    try takeCopy()
    for number in 0..<3 { try handle.put("a", "new \(number)") }
    let seen = try #require(try vault.handle().status().counter)
    try restoreCopy()
    #expect(failure { _ = try handle.text("a") }?.code == .rolledBack)
    #expect(failure { try handle.acceptRestored { _ in false } }?.code == .cancelled)
    try vault.handle().acceptRestored { differences throws(KeychainError) in
      #expect(differences.fileCounter < seen && differences.seenCounter == seen)
      #expect(differences.isConsistent && !differences.needsAdministrator)
      return true
    }
    #expect(try handle.text("a") == "old")
    #expect(try vault.handle().status().counter == seen + 1)
    try handle.put("a", "newest")
    #expect(try handle.verify().problems == [])
  }

  @Test func droppedItemIsShownAndAccepted() throws {
    try handle.put("b", "two")
    let keys = try handle.administration().keys
    let id = try ItemSealing(keys: keys, device: nil).id(of: .test("b"))
    try vault.write { rows throws(KeychainError) in try rows.removeItem(id, tokens: []) }
    try vault.handle().acceptRestored { differences throws(KeychainError) in
      #expect(differences.missingItems == 1 && differences.unlistedItems == 0)
      #expect(differences.expectedItemCount == 2 && differences.itemCount == 1)
      return true
    }
    #expect(try handle.text("b") == nil && handle.text("a") == "old")
    #expect(try handle.verify().problems == [])
  }

  /// The copy's list has a slot that was removed since.
  @Test(arguments: [true, false])
  func olderListGetsNewKeysAndConfirmedSlots(_ keepsKeys: Bool) throws {
    let theirs = try TestVault().handle().createIdentity(at: vault.folder.path + "/theirs")
    try handle.addRecipientSlot(theirs.recipient, name: "theirs")
    try handle.addPassphraseSlot(SecretBytes(copying: "two"), name: "two")
    try takeCopy()
    try handle.removeSlot(3, keepingKeys: keepsKeys)
    let seen = try handle.existingSession().readHead().row
    try restoreCopy()
    #expect(failure { _ = try handle.text("a") }?.code == .rolledBack)
    // It needs a secret that administers the vault.
    #expect(failure { try vault.handle().acceptRestored { _ in true } }?.code == .locked)
    var asked: [String] = []
    try handle.acceptRestored(
      confirm: { differences throws(KeychainError) in
        #expect(differences.makesNewKeys && differences.needsAdministrator)
        #expect(differences.slots.map(\.number) == [1, 2, 3, 4])
        return true
      },
      confirmSlot: { slot throws(KeychainError) in
        asked.append(slot.name)
        return slot.name == "two"
      })
    #expect(asked == ["theirs", "two"])
    let head = try handle.existingSession().readHead().row
    #expect(head.epoch == max(seen.epoch, 1) + 1)
    #expect(head.administration != seen.administration)
    #expect(try vault.handle().slots().map(\.number) == [1, 2, 4])
    #expect(try vault.handle(passphrase: "two").text("a") == "old")
    #expect(
      failure { _ = try vault.handle(identity: theirs.path).text("a") }?.code == .incorrectSecret)
    #expect(try handle.verify().problems == [])
    #expect(try handle.addPassphraseSlot(SecretBytes(copying: "three")).number == 5)
  }

  @Test func anotherVaultIsAcceptedByItsAdministrator() throws {
    let other = try TestVault()
    try other.handle(passphrase: "two").put("b", "theirs")
    try FileManager.default.removeItem(atPath: vault.path)
    try FileManager.default.copyItem(atPath: other.path, toPath: vault.path)
    #expect(failure { _ = try vault.handle(passphrase: "two").text("b") }?.code == .rolledBack)
    try vault.handle(passphrase: "two").acceptRestored { differences throws(KeychainError) in
      #expect(differences.isOtherVault && !differences.makesNewKeys)
      return true
    }
    #expect(try vault.handle(passphrase: "two").text("b") == "theirs")
  }

  @Test func readerOfASharedVaultAcceptsNothing() throws {
    let shared = try SharedVault()
    let carol = try shared.add("carol", .reads)
    try shared.administrator.put("a", "old")
    let copy = shared.vault.folder.path + "/copy.db"
    try FileManager.default.copyItem(atPath: shared.vault.path, toPath: copy)
    try shared.administrator.put("a", "new")
    try FileManager.default.removeItem(atPath: shared.vault.path)
    try FileManager.default.copyItem(atPath: copy, toPath: shared.vault.path)
    #expect(failure { try shared.handle(carol).acceptRestored { _ in true } }?.code == .refused)
    try shared.administrator.acceptRestored { _ in true }
    #expect(try shared.handle(carol).text("a") == "old")
    #expect(try shared.administrator.verify().problems == [])
  }

  @Test func vaultThatChangesMeanwhileIsNotAccepted() throws {
    try takeCopy()
    try handle.put("a", "new")
    try restoreCopy()
    let other = try TestVault()
    let path = vault.path
    let error = failure {
      try vault.handle().acceptRestored { _ throws(KeychainError) in
        do {
          try other.handle(passphrase: "one") { $0.path = path }.put("c", "meanwhile")
        } catch {
          Issue.record("\(error)")
        }
        return true
      }
    }
    #expect(error?.code == .busy)
  }
}
