import Foundation
import GRDB
import KeychainCredentials
import KeychainVaultTesting
import PrephirencesFiles
import Testing

@testable import KeychainVault

/// A vault was changed since it was seen here, and its chain must show that nothing else happened.
@Suite("The chain of the last states")
struct ChainTests {
  private let vault: TestVault
  private let record: URL
  private let seen: Data

  /// Creates a vault that was seen at change 2 and is at change 5.
  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "one")
    let name = try SeenRecord.name(of: TrustedPath(resolving: vault.path).path)
    record = URL(filePath: vault.seenFolder + "/" + name)
    seen = try Data(contentsOf: record)
    for number in 0..<3 { try vault.handle().put("b\(number)") }
  }

  @Test func newerStateThatFollowsIsBelieved() throws {
    try seen.write(to: record)
    #expect(try vault.handle().text("a") == "one")
    #expect(try vault.handle().verify().problems == [])
  }

  @Test(arguments: [2, 3, 5])
  func aMissingEntryIsDamage(_ place: Int) throws {
    try vault.tamper { try $0.execute(sql: "DELETE FROM chain WHERE place = \(place)") }
    // Whoever saw the present state needs no chain.
    #expect(try vault.handle().text("a") == "one")
    #expect(try vault.handle().verify().problems.count == 1)
    try seen.write(to: record)
    expect(.damaged) { try vault.handle().text("a") }
    expect(.damaged) { try vault.handle().put("a", "two") }
  }

  @Test func entriesInOtherPlacesAreDamage() throws {
    try vault.tamper { database in
      try database.execute(
        sql: """
          UPDATE chain SET place = -3 WHERE place = 3; UPDATE chain SET place = 3 WHERE place = 4;
          UPDATE chain SET place = 4 WHERE place = -3
          """)
    }
    try seen.write(to: record)
    expect(.damaged) { try vault.handle().text("a") }
  }

  /// Both copies were changed, the other one more often.
  @Test func longerForkIsAFork() throws {
    let other = vault.folder.path + "/other.db"
    try FileManager.default.copyItem(atPath: vault.path, toPath: other)
    try vault.handle { $0.path = other }.put("a", "other")
    try vault.handle { $0.path = other }.put("a", "other again")
    try vault.handle().put("a", "mine")
    try FileManager.default.removeItem(atPath: vault.path)
    try FileManager.default.moveItem(atPath: other, toPath: vault.path)
    let failure = #expect(throws: KeychainError.self) { try vault.handle().text("a") }
    #expect(failure?.message.contains("fork") == true)
    #expect(failure?.code == .rolledBack)
  }

  /// A new root key seals the chain again.
  @Test func newKeysKeepTheChain() throws {
    try vault.handle().rekey { _ in true }
    try vault.handle().put("c")
    #expect(try vault.raw("SELECT count(*) FROM chain") == 7)
    try seen.write(to: record)
    #expect(try vault.handle().text("a") == "one")
    #expect(try vault.handle().verify().problems == [])
  }
}
