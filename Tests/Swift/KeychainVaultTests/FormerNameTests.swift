import Foundation
import KeychainCredentials
import KeychainVaultTesting
import Testing

@testable import KeychainVault

/// The default vault was `vault.db` before: what was seen of that counts for `vault`, and neither is lost.
///
/// A vault that is named by the former path is as programs left it that know only that one.
@Suite("The vault's former name")
struct FormerNameTests {
  private let vault: TestVault
  private let files = FileManager.default
  private var former: String { vault.path + ".db" }
  private var copy: String { vault.folder.path + "/copy" }

  /// Creates a vault of the former name with two changes, and a copy of the first.
  init() throws {
    vault = try TestVault()
    try old().put("a", "old")
    try files.copyItem(atPath: former, toPath: copy)
    try old().put("a", "new")
  }

  private func old() -> Vault { vault.handle { $0.path = former } }

  private func move() throws { try files.moveItem(atPath: former, toPath: vault.path) }

  /// Requires that a handle neither reads, writes nor makes a vault, and that the folder stays as it is.
  @discardableResult
  private func requireRefused(
    _ code: KeychainError.Code, _ comment: Comment, startingAnew: Bool = false
  ) throws -> KeychainError? {
    let before = try contents()
    let failures = [
      failure { _ = try vault.handle().text("a") }, failure { _ = try vault.handle().put("b") },
      failure { try vault.handle().create(startingAnew: startingAnew) },
    ]
    #expect(failures.prefix(2).allSatisfy { $0?.code == code }, comment)
    #expect([code, .alreadyExists].contains(failures[2]?.code), comment)
    #expect(try contents() == before, comment)
    return failures[0]
  }

  private func contents() throws -> [String: Data] {
    let folder = URL(filePath: vault.path).deletingLastPathComponent()
    let names = try files.contentsOfDirectory(atPath: folder.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appending(path: $0))) })
  }

  private func records() throws -> Set<String> {
    Set(try files.contentsOfDirectory(atPath: vault.seenFolder))
  }

  private func record(of path: String) throws -> String {
    try SeenRecordFile(folder: vault.seenFolder, vaultPath: path).path
  }

  @Test func aVaultThatIsGoneIsMissedUnderBothNames() throws {
    try files.removeItem(atPath: former)
    try requireRefused(.noStore, "the record of the former name")
    #expect(try vault.handle().status().wasSeen)
    try files.moveItem(atPath: copy, toPath: former)
    #expect(try old().acceptRestored { _ in true })
    try move()
    #expect(try vault.handle().text("a") == "old")
    try files.removeItem(atPath: vault.path)
    try requireRefused(.noStore, "both records")
    // Who knows only the former name makes no vault there, either.
    #expect(failure { _ = try old().put("a") }?.code == .noStore)
    try files.removeItem(atPath: record(of: former))
    try requireRefused(.noStore, "the record of the name")
  }

  @Test func anOlderCopyIsRefusedByEitherRecord() throws {
    try files.moveItem(atPath: former, toPath: former + ".away")
    try files.copyItem(atPath: copy, toPath: vault.path)
    try requireRefused(.rolledBack, "before anything was read")
    #expect(try vault.handle().status().seenRecord == .newerThanFile)
    try files.removeItem(atPath: vault.path)
    try files.moveItem(atPath: former + ".away", toPath: vault.path)
    try vault.handle().put("a", "newer")
    #expect(try records().count == 2)
    try vault.handle().put("a", "newest")
    for path in [vault.path, former] {
      let newest = try Data(contentsOf: URL(filePath: vault.path))
      let record = try record(of: path)
      try files.moveItem(atPath: record, toPath: copy + ".record")
      try Data(contentsOf: URL(filePath: copy)).write(to: URL(filePath: vault.path))
      try requireRefused(.rolledBack, "without the record of \(path)")
      try newest.write(to: URL(filePath: vault.path))
      try files.moveItem(atPath: copy + ".record", toPath: record)
    }
    #expect(try vault.handle().text("a") == "newest")
  }

  @Test func twoFilesAreRefused() throws {
    try files.copyItem(atPath: former, toPath: vault.path)
    let refused = try requireRefused(.noStore, "two files", startingAnew: true)
    #expect(refused?.message.contains(vault.path + ",") ?? false)
    #expect(refused?.message.contains(former + ",") ?? false)
    #expect(failure { _ = try vault.handle().status() }?.code == .noStore)
    // Named by their paths, both can be compared.
    for path in [vault.path, former] {
      #expect(try vault.handle { $0.path = path }.text("a") == "new")
    }
    // A link is no second file.
    try files.removeItem(atPath: former)
    for (link, file) in [(former, vault.path), (vault.path, former)] {
      try files.createSymbolicLink(atPath: link, withDestinationPath: file)
      try vault.handle().put("a", link)
      #expect(try old().text("a") == link)
      try files.removeItem(atPath: link)
      try files.moveItem(atPath: file, toPath: link)
    }
  }

  @Test func aVaultThatIsMovedGoesOn() throws {
    let refused = try requireRefused(.noStore, "the former name alone", startingAnew: true)
    #expect(refused?.recovery?.description == "move it: mv -n -- \(former) \(vault.path)")
    #expect(failure { _ = try vault.handle().status() }?.code == .noStore)
    try move()
    #expect(try vault.handle().text("a") == "new")
    #expect(try vault.handle().status().seenRecord == .current)
    try vault.handle().rekey(newAdministrationKey: true, confirm: { _ in true })
    try vault.handle().put("a", "newer")
    #expect(try vault.handle().text("a") == "newer")
    #expect(try vault.handle().verify().problems.isEmpty)
    // Who goes back to the former name goes on, too.
    try files.moveItem(atPath: vault.path, toPath: former)
    #expect(try old().text("a") == "newer")
  }

  /// A program that has the vault open, and knows only the former name.
  @Test func anOpenHandleOfTheFormerNameLosesNothing() throws {
    let open = old()
    #expect(try open.text("a") == "new")
    try move()
    #expect(failure { _ = try open.put("a", "lost") } != nil)
    #expect(failure { _ = try open.text("a") }?.code == .noStore)
    #expect(failure { try open.compact() } != nil)
    #expect(!files.fileExists(atPath: former))
    #expect(try vault.handle().text("a") == "new")
  }

  @Test func explicitPathsKeepTheirNames() throws {
    let elsewhere = try TestVault(environment: ["KEYCHAIN_VAULT": vault.folder.path + "/vault.db"])
    try elsewhere.handle().put("a", "there")
    #expect(try elsewhere.handle().path() == vault.folder.path + "/vault.db")
    #expect(try elsewhere.handle().text("a") == "there")
    // A new vault has no record of a former name.
    #expect(try files.contentsOfDirectory(atPath: elsewhere.seenFolder).count == 1)
    let new = try TestVault()
    try new.handle().put("a")
    try new.handle().rekey(confirm: { _ in true })
    #expect(try files.contentsOfDirectory(atPath: new.seenFolder).count == 1)
  }
}
