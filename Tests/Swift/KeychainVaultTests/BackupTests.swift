import Foundation
import KeychainCredentials
import KeychainVaultTesting
import PrephirencesSystem
import Testing

@testable import KeychainVault

@Suite("Backups and folders")
struct BackupTests {
  /// Others may change the vault meanwhile.
  @Test func aBackupIsOfOneMoment() throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    let other = vault.handle()
    let copy = vault.folder.path + "/copy.db"
    let report = try vault.handle().backup(to: copy) { _ in _ = try? other.put("b") }
    #expect(report.itemCount == 1)
    #expect(try vault.handle { $0.path = copy }.status().itemCount == 1)
    #expect(try vault.handle().status().itemCount == 2)
  }

  /// A timer has no passphrase.
  @Test func theDeviceKeyAloneMakesAWholeBackup() throws {
    let vault = try TestVault()
    let owner = vault.handle(passphrase: "one")
    for name in ["a", "b"] { try owner.put(name, "secret") }
    try owner.compact()
    try owner.put("open", "x", .always)
    let copy = vault.folder.path + "/copy.db"
    let report = try vault.handle().backup(to: copy)
    #expect(report.itemCount == 3 && !report.needsThisDevice)
    let elsewhere = try TestVault().handle(passphrase: "one") { $0.path = copy }
    #expect(try elsewhere.text("b") == "secret" && elsewhere.text("open") == "x")
    #expect(try elsewhere.verify().problems == [])
    // It compares the boxes that it does not open.
    try vault.damage(at: RawVault(vault, owner).boxPlace(of: "b") + 30)
    let damaged = failure { try vault.handle().backup(to: copy, replacing: true) }
    #expect(damaged?.code == .damaged)
    #expect(try elsewhere.text("b") == "secret")
  }

  @Test func newBackupReplacesOlderOne() throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    let copy = vault.folder.path + "/copy.db"
    #expect(try vault.handle().backup(to: copy, replacing: true).itemCount == 1)
    try vault.handle().put("b")
    let refused = #expect(throws: KeychainError.self) { try vault.handle().backup(to: copy) }
    #expect(refused?.code == .alreadyExists)
    #expect(refused?.recovery?.actions == [.replaceBackup])
    #expect(try vault.handle().backup(to: copy, replacing: true).itemCount == 2)
    #expect(try vault.handle { $0.path = copy }.status().itemCount == 2)
    let names = try FileManager.default.contentsOfDirectory(atPath: vault.folder.path)
    #expect(!names.contains { $0.hasSuffix(".new") })
  }

  @Test func aBackupOfAnotherVaultStays() throws {
    let (vault, other) = (try TestVault(), try TestVault())
    try vault.handle().put("a")
    try other.handle().put("b")
    let copy = vault.folder.path + "/copy.db"
    _ = try other.handle().backup(to: copy)
    let before = FileManager.default.contents(atPath: copy)
    let refused = #expect(throws: KeychainError.self) {
      try vault.handle().backup(to: copy, replacing: true)
    }
    #expect(refused?.code == .refused)
    #expect(FileManager.default.contents(atPath: copy) == before)
  }

  /// Only its creator writes to the file of an unfinished backup; a second backup waits.
  @Test func concurrentBackupIsWaitedFor() throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    let copy = vault.folder.path + "/copy.db"
    let held = try UnfinishedVault(
      for: copy, on: LinuxDisk(), like: nil, until: Deadline(after: .seconds(1)))
    let refused = #expect(throws: KeychainError.self) {
      try vault.handle { $0.deadline = .milliseconds(100) }.backup(to: copy, replacing: true)
    }
    #expect(refused?.code == .busy)
    held.file.unlock()
    #expect(try vault.handle().backup(to: copy, replacing: true).itemCount == 1)
  }
}
