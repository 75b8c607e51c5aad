import Foundation
import KeychainCredentials
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// A handle that has verified a vault, below which the file changes.
@Suite("Handles that know a vault")
struct WarmHandleTests {
  private let vault: TestVault
  private let warm: Vault

  init() throws {
    vault = try TestVault()
    warm = vault.handle()
    try warm.put("a", "secret")
    try warm.put("b", "two")
  }

  /// Otherwise it would go on in a vault that nobody else can open.
  private func expectNoWrite() throws {
    let before = try vault.bytes
    #expect(failure { try warm.put("c") }?.code == .damaged)
    #expect(throws: KeychainError.self) { try warm.withTransaction { try $0.put("c", "c") } }
    #expect(throws: KeychainError.self) { try warm.remove(.test("a")) }
    #expect(throws: KeychainError.self) { try warm.verify() }
    #expect(throws: KeychainError.self) { try warm.rekey { _ in true } }
    #expect(try vault.bytes == before)
  }

  @Test func itDoesNotWriteBelowADamagedHead() throws {
    try vault.damage(at: vault.lengths.head - 40)
    try expectNoWrite()
  }

  @Test func itDoesNotWriteBehindADamagedFrame() throws {
    let frame = try RawVault(vault, warm).contents.lastFrame
    try vault.damage(at: frame.place + 40)
    try expectNoWrite()
  }

  @Test func itReadsWhatOthersAppendAndReplace() throws {
    let other = vault.handle()
    try other.put("a", "new")
    #expect(try warm.text("a") == "new")
    try other.compact()
    #expect(try warm.text("a") == "new" && warm.text("b") == "two")
    try warm.put("a", "newer")
    try other.rekey { _ in true }
    #expect(try warm.text("a") == "newer")
    #expect(try other.text("a") == "newer")
  }

  @Test func itNoticesAnOlderCopy() throws {
    let copy = try vault.copy()
    try warm.put("a", "new")
    try vault.restore(copy)
    #expect(failure { _ = try warm.text("a") }?.code == .rolledBack)
    #expect(failure { try warm.put("a", "newer") }?.code == .rolledBack)
  }

  /// Its length and the moment of its change can be the same.
  @Test func itNoticesAnotherLogOfTheSameLength() throws {
    let copy = try vault.copy()
    try warm.put("a", "one")
    let other = try TestVault()
    try FileManager.default.copyItem(
      atPath: vault.folder.path + "/state", toPath: other.folder.path + "/state")
    try? FileManager.default.removeItem(atPath: other.seenFolder)
    try other.handle { $0.path = copy }.put("a", "two")
    let bytes = try Data(contentsOf: URL(filePath: copy))
    #expect(try bytes.count == vault.bytes.count)
    let file = try FileHandle(forWritingTo: URL(filePath: vault.path))
    try file.write(contentsOf: bytes)
    try file.close()
    #expect(failure { _ = try warm.text("a") }?.code == .rolledBack)
  }
}
