import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesSystem
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
    let number = try #require(try vault.handle().status().counter)
    try takeCopy()
    for number in 0..<3 { try handle.put("a", "new \(number)") }
    try restoreCopy()
    let bytes = try vault.bytes
    #expect(failure { _ = try handle.text("a") }?.code == .rolledBack)
    #expect(failure { try handle.acceptRestored { _ in false } }?.code == .cancelled)
    // It needs what administers the vault.
    #expect(failure { try vault.handle().acceptRestored { _ in true } }?.code == .locked)
    #expect(try vault.bytes == bytes)
    let isAccepted = try handle.acceptRestored { differences throws(KeychainError) in
      #expect(differences.fileNumber == number && differences.seenNumber == number + 3)
      #expect(!differences.isFork && !differences.makesNewKeys && !differences.isOtherList)
      return true
    }
    #expect(isAccepted)
    #expect(try handle.text("a") == "old")
    // The history of the file goes on.
    #expect(try vault.handle().status().counter == number + 1)
    let list = try RawVault(vault, handle).contents.list
    #expect(list.accepted == list.serial && list.serial == 2)
    try handle.put("a", "newest")
    #expect(try handle.verify().problems == [])
  }

  /// They saw what is not in the file any more.
  @Test func othersFollowWhatWasAccepted() throws {
    let told = [Told(), Told()]
    let machines = try (0..<2).map { _ in try TestVault() }
    let path = vault.path
    func theirs(_ index: Int) -> Vault {
      machines[index].handle(passphrase: "one") {
        $0.path = path
        $0.notice = told[index].add
      }
    }
    try takeCopy()
    for number in 0..<3 {
      try handle.put("a", "new \(number)")
      if number < 2 { #expect(try theirs(number).text("a") == "new \(number)") }
    }
    try restoreCopy()
    #expect(failure { _ = try theirs(0).text("a") }?.code == .rolledBack)
    try handle.acceptRestored { _ in true }
    #expect(try theirs(0).text("a") == "old")
    #expect(told[0].messages.contains { $0.contains("put back") })
    // Later lists repeat what was accepted, and commits between them change nothing.
    try handle.put("a", "newer")
    try handle.addPassphraseSlot(SecretBytes(copying: "two"))
    for number in 0..<3 { try handle.put("b", "\(number)") }
    #expect(try theirs(1).text("a") == "newer")
    #expect(told[1].messages.contains { $0.contains("put back") })
    // Followed once, it is a history like others.
    let count = told[1].messages.count
    try theirs(1).put("c")
    #expect(told[1].messages.count == count)
    #expect(try handle.text("c") != nil && theirs(0).text("c") != nil)
  }

  /// With new keys, what does not open is lost; a digest does not show that a box changed.
  @Test func onlyWhatWasShownIsLostWithNewKeys() throws {
    try handle.put("keep", "kept")
    try handle.addPassphraseSlot(SecretBytes(copying: "two"))
    let place = try RawVault(vault, handle).boxPlace(of: "keep")
    try takeCopy()
    try handle.addRecoveryCodeSlot { _ in true }
    try restoreCopy()
    var shown: [[String]] = []
    let cancelled = failure {
      try handle.acceptRestored { differences throws(KeychainError) in
        shown.append(differences.lostItems)
        do { try vault.damage(at: place + 30) } catch { throw .slotsChanged }
        return shown.count < 2
      }
    }
    // What changed while a person looked is shown again, and nothing was changed.
    #expect(cancelled?.code == .cancelled)
    #expect(shown.first == [] && shown.last?.count == 1)
    #expect(shown.last?.first?.contains("keep") == true)
    try restoreCopy()
    // The last look is under the lock.
    let refused = failure {
      try handle.acceptRestored(
        confirm: { _ in true },
        confirmSlot: { _ throws(KeychainError) in
          do { try vault.damage(at: place + 30) } catch { throw .slotsChanged }
          return true
        })
    }
    #expect(refused?.code == .busy)
    try restoreCopy()
    #expect(failure { _ = try handle.text("keep") }?.code == .rolledBack)
    #expect(try handle.acceptRestored { _ in true })
    #expect(try handle.text("keep") == "kept")
  }

  @Test func damagedLogIsAcceptedAsAnOlderCopy() throws {
    let other = try TestVault()
    let path = vault.path
    try handle.put("b", "kept")
    let end = try RawVault(vault, handle).contents.end
    try handle.put("b", "lost")
    try handle.put("c", "lost too")
    #expect(try other.handle(passphrase: "one") { $0.path = path }.text("c") == "lost too")
    let number = try #require(try vault.handle().status().counter)
    try vault.damage(at: end + 60)
    #expect(failure { _ = try handle.text("a") }?.code == .damaged)
    #expect(failure { try handle.put("a", "new") }?.code == .damaged)
    try handle.acceptRestored { differences throws(KeychainError) in
      #expect(differences.isCutOff && !differences.makesNewKeys)
      #expect(differences.fileNumber == number - 2 && differences.seenNumber == number)
      return true
    }
    #expect(try handle.text("a") == "old" && handle.text("b") == "kept")
    #expect(try handle.text("c") == nil && handle.verify().problems == [])
    #expect(try other.handle(passphrase: "one") { $0.path = path }.text("b") == "kept")
  }

  @Test func forkIsAccepted() throws {
    try takeCopy()
    try handle.put("a", "here")
    let other = try TestVault()
    let copy = copy
    for _ in 0..<2 { try other.handle(passphrase: "one") { $0.path = copy }.put("a", "there") }
    try restoreCopy()
    #expect(failure { _ = try handle.text("a") }?.code == .rolledBack)
    try handle.acceptRestored { $0.isFork }
    #expect(try handle.text("a") == "there" && handle.verify().problems == [])
  }

  /// The copy's list has a slot that was removed since.
  @Test(arguments: [true, false])
  func olderListGetsNewKeysAndConfirmedSlots(_ keepsKeys: Bool) throws {
    let theirs = try TestVault().handle().createIdentity(at: vault.folder.path + "/theirs")
    try handle.addRecipientSlot(theirs.recipient, name: "theirs")
    try handle.addPassphraseSlot(SecretBytes(copying: "two"), name: "two")
    try takeCopy()
    try handle.removeSlot(3, keepingKeys: keepsKeys)
    let seen = try handle.existingSession().head
    try restoreCopy()
    #expect(failure { _ = try handle.text("a") }?.code == .rolledBack)
    // It needs a secret that administers the vault.
    #expect(failure { try vault.handle().acceptRestored { _ in true } }?.code == .locked)
    var asked: [String] = []
    try handle.acceptRestored(
      confirm: { differences throws(KeychainError) in
        #expect(differences.makesNewKeys && differences.isOtherList)
        #expect(differences.slots.map(\.number) == [1, 2, 3, 4])
        return true
      },
      confirmSlot: { slot throws(KeychainError) in
        asked.append(slot.name)
        return slot.name == "two"
      })
    #expect(asked == ["theirs", "two"])
    let head = try handle.existingSession().head
    #expect(head.epoch == max(seen.epoch, 1) + 1)
    #expect(head.administration != seen.administration)
    #expect(try vault.handle().slots().map(\.number) == [1, 2, 4])
    #expect(try vault.handle(passphrase: "two").text("a") == "old")
    #expect(
      failure { _ = try vault.handle(identity: theirs.path).text("a") }?.code == .incorrectSecret)
    #expect(try handle.verify().problems == [])
    #expect(try handle.addPassphraseSlot(SecretBytes(copying: "three")).number == 5)
  }

  /// A removed administrator chose the numbers of the list that was seen.
  @Test(arguments: [(1 << 48, 1), ((1 << 48) - 1, 1), (3, 1 << 31)] as [(UInt64, UInt64)])
  func greatNumbersThatWereSeenDoNotStay(_ serial: UInt64, _ epoch: UInt64) throws {
    let file = try #require(try handle.file.records().files.first)
    var record = try #require(file.read().record)
    (record.serial, record.epoch) = (serial, epoch)
    record.proved = record.proved.map { proved in
      proved.map { SeenCommit(serial: serial, n: 1 << 61, digest: $0.digest) }
    }
    try file.replace(by: record)
    #expect(failure { _ = try handle.text("a") }?.code == .rolledBack)
    try handle.acceptRestored { $0.makesNewKeys }
    #expect(try handle.text("a") == "old")
    let list = try RawVault(vault, handle).contents.list
    #expect(list.serial == (serial == 3 ? 4 : 2) && list.accepted == list.serial)
    #expect(try list.epoch == 2 && file.read().record?.serial == list.serial)
    // Members can change as before.
    try handle.addPassphraseSlot(SecretBytes(copying: "two"))
    try handle.rekey { _ in true }
    #expect(try handle.verify().problems == [])
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
      try handle.acceptRestored { _ throws(KeychainError) in
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
