import Foundation
import Glibc
import KeychainCredentials
import KeychainVault
import KeychainVaultTesting
import Testing

@Suite("Files put in place of a vault")
struct RollbackTests {
  private let vault: TestVault

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "one")
  }

  @Test(arguments: [true, false])
  func anOlderCopy(_ hasOpenHandle: Bool) throws {
    let handle = vault.handle()
    let old = try Data(contentsOf: URL(filePath: vault.path))
    try (hasOpenHandle ? handle : vault.handle()).put("a", "two")
    try put(old, as: vault.path)
    for call in [
      { try handle.text("a") }, { try handle.put("a", "three") },
      { try handle.search(CredentialQuery()) }, { try handle.verify() },
      { try handle.remove(.test("a")) }, { try handle.unlock() },
      { try handle.backup(to: vault.folder.path + "/backup.db") },
    ] as [() throws -> Any?] {
      expect(.rolledBack) { try call() }
    }
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == old)
    #expect(try handle.status().seenRecord == .newerThanFile)
    try accept()
    #expect(try handle.text("a") == "one")
    try handle.put("a", "three")
  }

  @Test func anotherVault() throws {
    let other = vault.folder.path + "/other.db"
    try vault.handle { $0.path = other }.put("a", "other")
    try put(try Data(contentsOf: URL(filePath: other)), as: vault.path)
    expect(.rolledBack) { try vault.handle().text("a") }
    expect(.rolledBack) { try vault.handle().put("a", "two") }
    expect(.rolledBack) { try vault.handle().unlock() }
    #expect(try vault.handle().status().seenRecord == .otherVault)
    try accept()
    #expect(try vault.handle().text("a") == "other")
  }

  @Test func anAcceptanceThatIsRefusedChangesNothing() throws {
    let old = try Data(contentsOf: URL(filePath: vault.path))
    try vault.handle().put("a", "two")
    try put(old, as: vault.path)
    expect(.cancelled) { try vault.handle().acceptRestored { _ in false } }
    expect(.rolledBack) { try vault.handle().text("a") }
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == old)
  }

  @Test func theVaultIsGone() throws {
    try FileManager.default.removeItem(atPath: vault.path)
    for call in [
      { try vault.handle().text("a") }, { try vault.handle().put("a") },
      { try vault.handle().search(CredentialQuery()) }, { try vault.handle().verify() },
      { try vault.handle().create(passphrase: nil, keyFile: nil, device: true) },
    ] as [() throws -> Any?] {
      expect(.noStore) { try call() }
    }
    #expect(!FileManager.default.fileExists(atPath: vault.path))
    try vault.handle().create(passphrase: nil, keyFile: nil, device: true, startingAnew: true)
    #expect(try vault.handle().text("a") == nil)
  }

  private func accept() throws {
    #expect(try vault.handle().acceptRestored { _ in true })
    #expect(try vault.handle().verify().problems == [])
  }

  /// Replaces a file by a new one, like a restore program.
  private func put(_ bytes: Data, as path: String) throws {
    let temporary = path + ".new"
    let made = FileManager.default.createFile(
      atPath: temporary, contents: bytes, attributes: [.posixPermissions: 0o600])
    try #require(made)
    try #require(rename(temporary, path) == 0)
  }
}
