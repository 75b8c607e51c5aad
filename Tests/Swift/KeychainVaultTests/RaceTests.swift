import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import PrephirencesSystem
import Synchronization
import Testing

@testable import KeychainVault

/// Changes that others make to a vault between two steps of one operation.
@Suite("Changes by others in between")
struct RaceTests {
  private func secret(_ text: String) throws(KeychainError) -> SecretBytes {
    try SecretBytes(copying: text)
  }

  @Test func addingPassphraseRekeysDeviceVault() throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "one").put("a")
    let isFirst = Mutex(true)
    let adding = vault.handle {
      $0.unlock = .passphrase(named: "the test") { () throws(KeychainError) in
        // The only passphrase is removed between reading the slots and the transaction.
        if isFirst.withLock({ first in
          defer { first = false }; return first
        }) {
          try vault.handle(passphrase: "one").removeSlot(2)
        }
        return try secret("one")
      }
    }
    let error = #expect(throws: KeychainError.self) {
      try adding.addPassphraseSlot(secret("two"))
    }
    #expect(error?.code == .busy)
    #expect(try vault.handle().slots().map(\.kind) == [.device])
  }

  @Test func handleNoticesWiderDeviceAccess() throws {
    let vault = try TestVault()
    try vault.handle(passphrase: "one").put("a", "secret")
    let running = vault.handle()
    #expect(throws: KeychainError.self) { try running.text("a") }
    try vault.handle(passphrase: "one").removeSlot(2)
    #expect(try running.text("a") == "secret")
  }

  @Test func lockForgetsKeysOfMissingVault() throws {
    let vault = try TestVault()
    let asked = Mutex(0)
    let handle = vault.handle {
      $0.unlock = .passphrase(named: "the test") { () throws(KeychainError) in
        asked.withLock { $0 += 1 }
        return try secret("one")
      }
    }
    try handle.put("a", "secret")
    #expect(try handle.text("a") == "secret")
    let before = asked.withLock { $0 }
    try FileManager.default.moveItem(atPath: vault.path, toPath: vault.path + ".away")
    try handle.lock()
    try FileManager.default.moveItem(atPath: vault.path + ".away", toPath: vault.path)
    #expect(try handle.text("a") == "secret")
    #expect(asked.withLock { $0 } == before + 1)
  }

  @Test func creatorDoesNotLowerSeenRecord() throws {
    let vault = try TestVault()
    let record = try SeenRecordFile(
      folder: vault.seenFolder, vaultPath: vault.path)
    let id = try VaultID.random()
    let fifth = SeenRecord.test(id, counter: 5)
    try record.raise(to: fifth)
    try record.replace(by: .test(id, counter: 1))
    #expect(try record.read() == .record(fifth))
    // While a vault gets a new administration key, both are valid; a newer state shows which one it
    // got.
    try record.replace(by: .test(id, next: 8, counter: 5))
    let newest = SeenRecord.test(id, administration: 8, counter: 6, epoch: 2, serial: 2)
    try record.raise(to: newest)
    #expect(try record.read() == .record(newest))
    // A followed succession raises the record from which it was followed, and no other one.
    let followed = SeenRecord.test(id, administration: 9, counter: 7, epoch: 3, serial: 3)
    try record.raise(to: followed, following: fifth)
    #expect(try record.read() == .record(newest))
    try record.raise(to: followed, following: newest)
    #expect(try record.read() == .record(followed))
    // Only from a record that the user has reset.
    let lower = SeenRecord.test(id, administration: 9, counter: 1)
    try record.replace(by: lower, lettingGo: newest)
    #expect(try record.read() == .record(followed))
    try record.replace(by: lower, lettingGo: followed)
    #expect(try record.read() == .record(lower))
    let other = SeenRecord.test(try VaultID.random(), counter: 1)
    try record.replace(by: other)
    #expect(try record.read() == .record(other))
  }

  @Test func damagedItemIsNamedAndOthersListed() throws {
    let vault = try TestVault()
    for name in ["a", "b", "c"] { try vault.handle().put(name) }
    try vault.damage(at: RawVault(vault, vault.handle()).boxPlace(of: "b") + 30)
    let handle = vault.handle()
    #expect(try handle.text("a") != nil && handle.text("c") != nil)
    let error = failure { _ = try handle.text("b") }
    #expect(error?.code == .damaged && error?.message.contains("'b'") == true)
    // Its name is not in the box.
    #expect(try handle.search(CredentialQuery()).credentials.count == 3)
    let report = try handle.verify()
    #expect(report.openedCount == 2 && report.problems.count == 1)
    try handle.remove(.test("b"))
    #expect(try vault.handle().verify().problems == [])
  }

  @Test func damagedPageHidesItsItemsAlone() throws {
    let vault = try TestVault()
    for name in ["a", "b"] { try vault.handle().put(name) }
    try vault.handle().compact()
    let raw = try RawVault(vault, vault.handle())
    let page = try #require(raw.contents.index.pages[Int(Tier.unlocked.rawValue)].first)
    // Whether the page has an item from its first id on is not known.
    let sealing = ItemSealing(keys: raw.keys, device: nil)
    // The keys are random, and with them how many names it takes until two are below.
    var names: [String] = []
    var number = 0
    while names.count < 2 {
      let name = "n\(number)"
      if try sealing.id(of: .test(name)) < page.first { names.append(name) }
      number += 1
    }
    let (open, new) = (names[0], names[1])
    try vault.handle().put(open, "x", .always)
    try vault.damage(at: page.place + 50)
    let handle = vault.handle()
    #expect(failure { _ = try handle.text("a") }?.code == .damaged)
    let found = try handle.search(CredentialQuery())
    #expect(found.credentials.map(\.identity) == [.test(open)] && found.damaged.count == 1)
    let status = try handle.status()
    #expect(status.itemCount == 3 && status.damagedItemCount == 2)
    #expect(try handle.verify().problems.count == 1)
    // What isn't in it can be added, changed and removed, in the log alone.
    let told = Told()
    let writer = vault.handle { $0.notice = told.add }
    try writer.put(new, "y", .always)
    try writer.put(open, "z", .always)
    #expect(try writer.remove(.test(new)))
    #expect(try vault.handle().text(open) == "z" && vault.handle().text(new) == nil)
    #expect(told.kinds == [.oldContentLeft])
  }

  /// The writer of the file chose their number.
  @Test func damagedPagesThatFollowEachOtherAreReportedAsOne() throws {
    let vault = try TestVault()
    try vault.handle().withTransaction { transaction in
      for number in 0..<200 {
        try transaction.set(Credential(.test("\(number)")), secret: SecretBytes(copying: "s"))
      }
    }
    try vault.handle().compact()
    let pages = try RawVault(vault, vault.handle()).contents.index.pages[
      Int(Tier.unlocked.rawValue)]
    try #require(pages.count >= 5)
    for page in [pages[0], pages[1], pages[2], pages[4]] { try vault.damage(at: page.place + 50) }
    let run = pages[0..<3].reduce(0) { $0 + $1.count }
    let names = [
      "\(run) items from \(pages[0].first.name) on",
      "\(pages[4].count) items from \(pages[4].first.name) on",
    ]
    let handle = vault.handle()
    #expect(try handle.verify().problems == names.map { "\($0) are damaged" })
    #expect(try handle.search(CredentialQuery()).damaged == names)
    #expect(failure { try handle.rekey { _ in true } }?.code == .damaged)
    try handle.rekey(droppingDamaged: true) { $0.damagedItems == names.sorted() }
    #expect(try handle.verify().problems == [])
    #expect(try handle.search(CredentialQuery()).credentials.count == 200 - run - pages[4].count)
  }

  /// What came before may have taken all of it, so a small file is read after it, too.
  @Test func readingEndsAtTheDeadline() throws {
    let late = Deadline(after: .zero)
    #expect(failure { try ReadingTime(late, atLeast: .zero).require("vault") }?.code == .timedOut)
    try ReadingTime(late, atLeast: .seconds(3600)).require("vault")
    try ReadingTime(Deadline(after: .seconds(3600)), atLeast: .zero).require("vault")
    try ReadingTime(nil, atLeast: .zero).require("vault")
    let vault = try TestVault()
    for name in ["a", "b"] { try vault.handle().put(name) }
    let handle = vault.handle { $0.commonDeadline = late }
    #expect(try handle.text("a") != nil && handle.search(CredentialQuery()).credentials.count == 2)
  }

  @Test func failedWriteKeepsDeviceSecretLost() throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    try FileManager.default.removeItem(atPath: vault.deviceSecretPath)
    let error = #expect(throws: KeychainError.self) {
      try vault.handle().put("b", "secret", .alwaysThisDeviceOnly)
    }
    #expect(error?.code == .locked)
    #expect(!FileManager.default.fileExists(atPath: vault.deviceSecretPath))
  }

  @Test func manyThatMakeOneVaultAtOnceAgree() async throws {
    for _ in 0..<10 {
      let vault = try TestVault()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask { _ = try vault.handle().put("\(number)") }
        }
        try await group.waitForAll()
      }
      #expect(try vault.handle().search(CredentialQuery()).credentials.count == 8)
    }
  }
}
