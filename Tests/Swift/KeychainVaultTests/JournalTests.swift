import Foundation
import Glibc
import KeychainCredentials
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// SQLite also plays back a journal that appears next to an open database.
@Suite("Files added next to an open vault", .timeLimit(.minutes(10)))
struct JournalTests {
  private let vault: TestVault
  private let handle: Vault
  private let victim: String

  init() throws {
    vault = try TestVault()
    handle = vault.handle()
    try handle.put("a", "one")
    victim = try vault.file("victim", "precious")
  }

  private var calls: [() throws -> Any?] {
    let target = vault.folder.path + "/backup.db"
    return [
      { try handle.text("a") }, { try handle.put("a", "two") },
      { try handle.search(CredentialQuery()) }, { try handle.verify() },
      { try handle.remove(.test("a")) }, { try handle.status() }, { try handle.slots() },
      { try handle.backup(to: target) }, { try vault.handle().text("a") },
    ]
  }

  private func expect(_ code: KeychainError.Code, _ prepare: () throws -> Void) throws {
    for (number, call) in calls.enumerated() {
      try? FileManager.default.removeItem(atPath: vault.path + "-journal")
      try prepare()
      let error = #expect(throws: KeychainError.self, "call \(number)") { try call() }
      #expect(error?.code == code, "call \(number)")
    }
    for suffix in ["-journal", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: vault.path + suffix)
    }
    #expect(try handle.text("a") == "one")
    #expect(try handle.verify().problems == [])
  }

  @Test func aJournalDeletesNoFile() throws {
    let journal = try ForgedJournal.naming(victim, beside: vault)
    try expect(.damaged) { try vault.putBeside("-journal", journal) }
    #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
  }

  @Test(arguments: ["-journal", "-wal", "-shm"])
  func aPipeIsRefusedAtOnce(_ suffix: String) throws {
    try expect(.insecurePermissions) {
      let path = vault.path + suffix
      if access(path, F_OK) != 0 { try #require(mkfifo(path, 0o600) == 0) }
    }
  }

  @Test func aWriteAheadLogIsRefused() throws {
    try expect(.damaged) { try vault.putBeside("-wal", Data(repeating: 1, count: 100)) }
  }

  /// Observers read the vault as soon as a journal appears or disappears.
  @Test func anObserverDeletesNoFile() throws {
    let configuration = handle.configuration
    let look = VaultChangeScanner(
      file: VaultFile(configuration),
      unlocker: Unlocker(configuration, StateFolder(environment: configuration.environment)),
      knownHead: KnownHead(), timeout: .seconds(60))
    look.begin()
    defer { look.end() }
    try vault.putBeside("-journal", try ForgedJournal.naming(victim, beside: vault))
    #expect(look.changes() == [])
    #expect(FileManager.default.fileExists(atPath: victim))
    try FileManager.default.removeItem(atPath: vault.path + "-journal")
    try handle.put("b")
    #expect(look.changes()?.count == 1)
  }
}
