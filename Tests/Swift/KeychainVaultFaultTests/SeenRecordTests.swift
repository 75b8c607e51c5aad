import Foundation
import Glibc
import KeychainCredentials
import KeychainSecrets
import KeychainVaultFormat
import KeychainVaultTesting
import PrephirencesSystem
import Synchronization
import Testing

@testable import KeychainVault

/// The record of what a user has seen of a vault is damaged, or does not match the vault file.
@Suite("The record of what was seen")
struct SeenRecordTests {
  private let vault: TestVault
  private let record: URL

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "one")
    let name = try SeenRecord.name(of: TrustedPath(resolving: vault.path).path)
    record = URL(filePath: vault.seenFolder + "/" + name)
  }

  enum Damage: CaseIterable {
    case empty, torn, cutShort, oneByteChanged, tooLong, muchTooLong
  }

  @Test(arguments: Damage.allCases)
  func damagedRecordIsReportedAndRewritten(_ damage: Damage) throws {
    var bytes = try Data(contentsOf: record)
    switch damage {
    case .empty: bytes = Data()
    case .torn: bytes = Data([1])
    case .cutShort: bytes.removeLast()
    case .oneByteChanged: bytes[40] ^= 1
    case .tooLong: bytes.append(0)
    case .muchTooLong: bytes.append(Data(count: 100_000))
    }
    try bytes.write(to: record)
    #expect(try vault.handle().status().seenRecord == .unreadable)
    #expect(try notices { _ = try $0.text("a") } == [.seenRecordUnavailable])
    #expect(try vault.handle().status().seenRecord == .current)
    #expect(try notices { _ = try $0.text("a") } == [])
  }

  @Test func writeReportsDamagedRecord() throws {
    try Data([1]).write(to: record)
    #expect(try notices { try $0.put("a", "two") } == [.seenRecordUnavailable])
    try Data([1]).write(to: record)
    #expect(
      try notices { _ = try $0.addRecoveryCodeSlot { _ in true } } == [.seenRecordUnavailable])
    try Data([1]).write(to: record)
    #expect(try notices { _ = try $0.rekey { _ in true } } == [.seenRecordUnavailable])
    #expect(try notices { _ = try $0.text("a") } == [])
  }

  @Test func nonFileIsReportedAndStays() throws {
    for make in [
      { symlink("elsewhere", $0) }, { mkfifo($0, 0o600) }, { mkdir($0, 0o700) },
    ] as [(String) -> CInt] {
      try FileManager.default.removeItem(at: record)
      try #require(make(record.path) == 0)
      for _ in 0..<2 {
        #expect(try notices { _ = try $0.text("a") } == [.seenRecordUnavailable])
      }
      #expect(try vault.handle().status().seenRecord == .unreadable)
    }
  }

  /// Returns the kinds of the notices during use of the vault.
  private func notices(_ body: (Vault) throws -> Void) throws -> [Notice.Kind] {
    let told = Mutex<[Notice.Kind]>([])
    try body(
      vault.handle {
        $0.notice = { notice in told.withLock { $0.append(notice.kind) } }
      })
    return told.withLock { $0 }
  }

  // MARK: - Forks

  @Test func twoChangedCopiesAreAFork() throws {
    let theirs = vault.folder.path + "/theirs.db"
    try copyVault(to: theirs)
    try vault.handle { $0.path = theirs }.put("a", "theirs")
    try vault.handle().put("a", "mine")
    let mine = vault.folder.path + "/mine.db"
    try copyVault(to: mine)
    try restore(theirs)
    for call in [
      { try vault.handle().text("a") }, { try vault.handle().put("a", "three") },
      { try vault.handle().verify() }, { try vault.handle().search(CredentialQuery()) },
    ] as [() throws -> Any?] {
      let failure = #expect(throws: KeychainError.self) { _ = try call() }
      #expect(failure?.code == .rolledBack)
      #expect(failure?.message.contains("fork") == true)
    }
    #expect(try vault.handle().status().seenRecord == .forked)
    try restore(mine)
    #expect(try vault.handle().text("a") == "mine")
    try restore(theirs)
    #expect(try vault.handle().acceptRestored { _ in true })
    #expect(try vault.handle().text("a") == "theirs")
    #expect(try vault.handle().verify().isIntact)
    try restore(mine)
    expect(.rolledBack) { try vault.handle().text("a") }
  }

  private func copyVault(to path: String) throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: vault.path, toPath: path)
  }

  /// Replaces the vault by a new file, like a restore program.
  private func restore(_ path: String) throws {
    let temporary = vault.path + ".new"
    try FileManager.default.copyItem(atPath: path, toPath: temporary)
    try #require(rename(temporary, vault.path) == 0)
  }

}
