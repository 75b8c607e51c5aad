import Foundation
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

@Suite("Status of a vault")
struct StatusTests {
  @Test func withoutKeysTheHeadIsShown() throws {
    let vault = try TestVault()
    let owner = vault.handle(passphrase: "one")
    try owner.create(passphrase: SecretBytes(copying: "one"), keyFile: nil, device: false)
    try owner.put("a")
    let (before, whole) = (try vault.bytes, try owner.status())
    let status = try vault.handle().status()
    #expect(status.exists && status.wasSeen && status.readable == nil)
    #expect(status.check != nil && status.check == whole.check && status.id == whole.id)
    #expect(status.epoch == 1 && status.slots.map(\.kind) == [.passphrase])
    #expect(status.kind == nil && status.itemCount == nil && status.counter == nil)
    #expect(status.witness == nil && status.itemsByAccessibility.isEmpty)
    #expect(status.seenRecord == .notCompared)
    #expect(try vault.bytes == before)
  }

  @Test func withKeysTheContentsAreShown() throws {
    let vault = try TestVault()
    try vault.handle().put("a")
    try vault.handle().put("b", "x", .always)
    let status = try vault.handle().status()
    #expect(status.kind == .local && status.itemCount == 2 && status.counter == 3)
    #expect(status.itemsByAccessibility == [.whenUnlocked: 1, .always: 1])
    #expect(status.witness?.count == 32 && status.seenRecord == .current)
    try vault.handle().put("a")
    #expect(try vault.handle().status().witness != status.witness)
  }

  @Test func namesOfARefusedVaultAreNotShown() throws {
    let vault = try TestVault()
    let theirs = try vault.identity("theirs")
    try vault.handle().put("a", "one")
    try vault.handle().addRecipientSlot(theirs.recipient, name: "theirs")
    #expect(try vault.handle().status().slots.map(\.name) == ["", "theirs"])
    let copy = try vault.copy()
    try vault.handle().put("a", "two")
    try vault.restore(copy)
    let status = try vault.handle().status()
    #expect(status.seenFailure?.code == .rolledBack && status.slots.map(\.name) == ["", ""])
    #expect(try vault.handle().slots().map(\.name) == ["", ""])
  }

  @Test func allRefusalsOfTheRecordAreShown() throws {
    let vault = try TestVault()
    try vault.handle().put("a", "one")
    let copy = try vault.copy()
    try vault.handle().put("a", "two")
    try vault.restore(copy)
    let older = try vault.handle().status()
    #expect(older.seenRecord == .newerThanFile && older.seenFailure?.code == .rolledBack)
    #expect(older.itemCount == 1)
    // People compare them.
    #expect(older.check == nil && older.witness == nil)
    let fork = try TestVault()
    try FileManager.default.createDirectory(
      atPath: fork.folder.path + "/state/keychain", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: vault.deviceSecretPath, toPath: fork.deviceSecretPath)
    let path = vault.path
    for _ in 0..<2 { try fork.handle { $0.path = path }.put("b", "three") }
    #expect(try vault.handle().status().seenRecord == .forked)
    let other = try TestVault()
    try other.handle().put("a")
    try vault.restore(other.path)
    let status = try vault.handle().status()
    #expect(status.seenRecord == .otherVault && status.itemCount == nil && status.check == nil)
  }
}
