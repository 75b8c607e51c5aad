import Foundation
import KeychainCredentials
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// A symbolic link in the place of a vault, or of a folder above it, voids nothing of what was seen.
@Suite("Symbolic links to vaults")
struct LinkedVaultTests {
  private let vault: TestVault
  private let files = FileManager.default
  private var folder: String { vault.folder.path + "/data/keychain" }
  private var elsewhere: String { vault.folder.path + "/elsewhere" }

  /// Creates a vault, and an older copy of its folder.
  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "old")
    try files.copyItem(atPath: folder, toPath: elsewhere)
    try vault.handle().put("a", "new")
  }

  private func requireRefused(_ comment: Comment) throws {
    let bytes = try Data(contentsOf: URL(filePath: elsewhere + "/vault"))
    #expect(failure { _ = try vault.handle().text("a") }?.code == .rolledBack, comment)
    #expect(failure { _ = try vault.handle().put("b") }?.code == .rolledBack, comment)
    #expect(failure { _ = try vault.handle().verify() }?.code == .rolledBack, comment)
    #expect(try Data(contentsOf: URL(filePath: elsewhere + "/vault")) == bytes, comment)
  }

  @Test func olderCopyBehindALinkIsRefused() throws {
    try files.removeItem(atPath: vault.path)
    try files.createSymbolicLink(
      atPath: vault.path, withDestinationPath: "../x/../../elsewhere/./vault")
    try files.createDirectory(
      atPath: vault.folder.path + "/data/x", withIntermediateDirectories: false)
    try requireRefused("the file is a link")
    try files.removeItem(atPath: folder)
    try files.createSymbolicLink(atPath: folder, withDestinationPath: elsewhere)
    try requireRefused("the folder is a link")
    #expect(try vault.handle().acceptRestored { _ in true })
    #expect(try vault.handle().text("a") == "old")
    try vault.handle().put("a", "newest")
    #expect(try vault.handle().text("a") == "newest")
  }

  @Test func aVaultThatWasMovedBehindALinkGoesOn() throws {
    let moved = vault.folder.path + "/moved"
    try files.moveItem(atPath: folder, toPath: moved)
    try files.createSymbolicLink(atPath: folder, withDestinationPath: moved)
    #expect(try vault.handle().text("a") == "new")
    try vault.handle().put("a", "newer")
    // What was seen behind the link counts without it, too.
    try files.removeItem(atPath: folder)
    try files.copyItem(atPath: elsewhere, toPath: folder)
    try requireRefused("no link")
    try files.removeItem(atPath: folder)
    try files.createSymbolicLink(atPath: folder, withDestinationPath: elsewhere)
    try requireRefused("the link leads elsewhere")
    try files.removeItem(atPath: folder)
    try files.moveItem(atPath: moved, toPath: folder)
    #expect(try vault.handle().text("a") == "newer")
  }

  @Test func aLinkThatLedToAVaultVouchesForNoOther() throws {
    let link = vault.folder.path + "/link.db"
    let linked = { vault.handle { $0.path = link } }
    try files.createSymbolicLink(atPath: link, withDestinationPath: vault.path)
    #expect(try linked().text("a") == "new")
    try files.removeItem(atPath: link)
    try files.createSymbolicLink(atPath: link, withDestinationPath: elsewhere + "/vault")
    #expect(failure { _ = try linked().text("a") }?.code == .rolledBack)
    // Under its own name, it was never seen.
    #expect(try vault.handle { $0.path = elsewhere + "/vault" }.text("a") == "old")
    #expect(failure { _ = try linked().text("a") }?.code == .rolledBack)
  }

  /// A new administration key is seen under one name alone.
  @Test func aChangeByTheRealPathIsFollowedBehindALink() throws {
    let link = vault.folder.path + "/link.db"
    let linked = { vault.handle { $0.path = link } }
    try files.createSymbolicLink(atPath: link, withDestinationPath: vault.path)
    #expect(try linked().text("a") == "new")
    try vault.handle().rekey(newAdministrationKey: true, confirm: { _ in true })
    try vault.handle().put("a", "newer")
    #expect(try linked().text("a") == "newer")
    try linked().put("a", "newest")
    #expect(try vault.handle().text("a") == "newest")
    // What was seen before counts still.
    try files.removeItem(atPath: link)
    try files.createSymbolicLink(atPath: link, withDestinationPath: elsewhere + "/vault")
    #expect(failure { _ = try linked().text("a") }?.code == .rolledBack)
  }

  @Test func noVaultIsMadeBehindALinkWhereOneWas() throws {
    try files.removeItem(atPath: vault.path)
    try files.createSymbolicLink(atPath: vault.path, withDestinationPath: "nowhere.db")
    let nowhere = folder + "/nowhere.db"
    #expect(failure { _ = try vault.handle().text("a") }?.code == .noStore)
    #expect(failure { _ = try vault.handle().put("a") }?.code == .noStore)
    #expect(failure { try vault.handle().create(startingAnew: false) }?.code == .noStore)
    #expect(!files.fileExists(atPath: nowhere))
    try vault.handle().create(startingAnew: true)
    #expect(try vault.handle().text("a") == nil)
    try vault.handle().put("a", "of the new one")
    #expect(try vault.handle { $0.path = nowhere }.text("a") == "of the new one")
  }
}
