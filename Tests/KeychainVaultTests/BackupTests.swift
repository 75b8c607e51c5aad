import Foundation
import KeychainCredentials
import KeychainVaultTesting
import Testing

@testable import KeychainVault

@Suite("Backups and folders")
struct BackupTests {
  /// What another process changes after the verification is not in the copy.
  @Test func aBackupHoldsWhatWasVerified() throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    // Where the record of what was seen cannot be written, that is told at the end of each transaction.
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

  @Test func aFolderThatOthersCanChangeIsNotBelieved() throws {
    // Not below the folder of the test's other files, which other users cannot enter.
    let folder = "/var/tmp/vault-test-\(UUID().uuidString)"
    let open = folder + "/open"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // As if another user had made it after its path was checked.
    try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: true)
    for (path, mode) in [(folder, 0o755), (open, 0o777)] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    for path in [open, open + "/folder", open + "/a/b"] {
      let error = #expect(throws: KeychainError.self) { try PrivateFile.makeFolder(path) }
      #expect(error?.code == .insecurePermissions)
    }
    #expect(throws: Never.self) { try PrivateFile.makeFolder(folder + "/own/folder") }
  }
}
