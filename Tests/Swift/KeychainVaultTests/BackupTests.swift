import Foundation
import KeychainCredentials
import KeychainVaultTesting
import PrephirencesFiles
import Testing

@testable import KeychainVault

@Suite("Backups and folders")
struct BackupTests {
  /// Changes by another process after the verification are not in the copy.
  @Test func aBackupHoldsWhatWasVerified() throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    // If the seen record cannot be written, each transaction reports that at its end.
    try FileManager.default.removeItem(atPath: vault.seenFolder)
    try Data().write(to: URL(filePath: vault.seenFolder))
    let other = vault.handle()
    let told = Told()
    let handle = vault.handle {
      $0.notice = { notice in
        told.add(notice)
        _ = try? other.put("b")
      }
    }
    let copy = vault.folder.path + "/copy.db"
    let report = try handle.backup(to: copy)
    #expect(told.kinds.contains(.seenRecordUnavailable))
    #expect(report.itemCount == 1)
    #expect(try vault.handle { $0.path = copy }.status().itemCount == 1)
    #expect(try vault.handle().status().itemCount == 2)
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
    #expect(!names.contains { $0.contains("unfinished") })
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
    let held = try UnfinishedBackup(of: copy, Deadline(after: .seconds(1)))
    let refused = #expect(throws: KeychainError.self) {
      try vault.handle { $0.deadline = .milliseconds(100) }.backup(to: copy, replacing: true)
    }
    #expect(refused?.code == .timedOut)
    held.remove()
    #expect(try vault.handle().backup(to: copy, replacing: true).itemCount == 1)
  }
}
