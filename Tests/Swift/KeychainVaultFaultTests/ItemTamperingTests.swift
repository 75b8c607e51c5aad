import Foundation
import GRDB
import KeychainCredentials
import KeychainSecrets
import KeychainVault
import KeychainVaultTesting
import Testing

/// An attacker who can write the file but has no key can destroy an item, but cannot forge one, or
/// hide one from a verification.
@Suite("Items are changed outside the vault")
struct ItemTamperingTests {
  private let vault: TestVault

  init() throws {
    vault = try TestVault()
    try vault.handle().put("a", "one", .whenUnlocked)
    try vault.handle().put("b", "two", .alwaysThisDeviceOnly)
  }

  @Test(arguments: [["secret"], ["metadata"], ["secret", "metadata"]])
  func boxesOfTwoItemsAreSwapped(_ columns: [String]) throws {
    let changes = columns.map { "\($0) = other.\($0)" }.joined(separator: ", ")
    try vault.tamper { database in
      try database.execute(
        sql: """
          CREATE TEMP TABLE old AS SELECT * FROM item;
          UPDATE item SET \(changes) FROM old AS other WHERE other.id <> item.id
          """)
    }
    for account in ["a", "b"] { expect(.damaged) { try vault.handle().text(account) } }
    try expectProblems()
  }

  @Test(arguments: [
    "class = 4", "version = version + 1", "id = zeroblob(32)", "device = x'00'",
    "tokens = x''", "tokens = CAST(tokens || tokens AS BLOB)", "hash = zeroblob(32)",
  ])
  func aColumnIsChanged(_ change: String) throws {
    try vault.tamper { try $0.execute(sql: "UPDATE item SET \(change) WHERE class = 0") }
    expect(.damaged) { try vault.handle().text("a") }
    #expect(try vault.handle().text("b") == "two")
    let found = try vault.handle().search(CredentialQuery())
    #expect(found.credentials.map(\.identity.account) == ["b"])
    // An item with another id is damaged under both.
    #expect(found.damaged.count == (change.hasPrefix("id") ? 2 : 1))
    try expectProblems()
  }

  @Test func theDeviceIsChanged() throws {
    try vault.tamper { try $0.execute(sql: "UPDATE item SET device = zeroblob(16)") }
    expect(.damaged) { try vault.handle().text("b") }
    #expect(try vault.handle().search(CredentialQuery()).damaged.count == 2)
    try expectProblems()
  }

  @Test(arguments: [["item"], ["item", "state"]])
  func oldRowsArePutBack(_ tables: [String]) throws {
    let old = vault.folder.path + "/old.db"
    try FileManager.default.copyItem(atPath: vault.path, toPath: old)
    try vault.handle().put("a", "new", .whenUnlocked)
    let queue = try vault.rawDatabase()
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "ATTACH ? AS old", arguments: [old])
      for table in tables {
        try database.execute(
          sql: "DELETE FROM main.\(table); INSERT INTO main.\(table) SELECT * FROM old.\(table)")
      }
    }
    try queue.close()
    guard tables.contains("state") else {
      expect(.damaged) { try vault.handle().text("a") }
      expect(.damaged) { try vault.handle().put("a", "newer", .whenUnlocked) }
      return try expectProblems()
    }
    expect(.rolledBack) { try vault.handle().text("a") }
  }

  @Test func anItemIsDroppedWithItsTokens() throws {
    try vault.tamper { database in
      try database.execute(
        sql: """
          DELETE FROM token WHERE item IN (SELECT id FROM item WHERE class = 0);
          DELETE FROM item WHERE class = 0
          """)
    }
    expect(.damaged) { try vault.handle().text("a") }
    expect(.damaged) { try vault.handle().put("a", "new") }
    for query in [CredentialQuery(), CredentialQuery(account: "a")] {
      expect(.damaged) { try vault.handle().search(query) }
    }
    try expectProblems()
  }

  @Test func anItemIsDroppedWithoutItsTokens() throws {
    try vault.tamper { try $0.execute(sql: "DELETE FROM item WHERE class = 0") }
    expect(.damaged) { try vault.handle().text("a") }
    expect(.damaged) { try vault.handle().put("a", "new") }
    #expect(try vault.handle().search(CredentialQuery(account: "a")).damaged.count == 1)
    try expectProblems()
  }

  @Test func theTokensOfAnItemAreDropped() throws {
    let id: Data = try #require(try vault.raw("SELECT id FROM item WHERE class = 0"))
    try vault.tamper { try $0.execute(sql: "DELETE FROM token WHERE item = ?", arguments: [id]) }
    #expect(try vault.handle().text("a") == "one")
    expect(.damaged) { try vault.handle().search(CredentialQuery(account: "a")) }
    #expect(try vault.handle().search(CredentialQuery(account: "b")).credentials.count == 1)
    try expectProblems()
  }

  @Test func aTokenIsAddedToAnItem() throws {
    try vault.tamper { database in
      try database.execute(
        sql: """
          INSERT OR IGNORE INTO token SELECT other.token, item.id FROM item, token AS other
          WHERE other.item <> item.id
          """)
    }
    expect(.damaged) { try vault.handle().search(CredentialQuery(account: "a")) }
    #expect(try vault.handle().search(CredentialQuery()).credentials.count == 2)
    try expectProblems()
  }

  /// A hidden item is added again, removed, and then put back as it was.
  @Test func anItemThatWasHiddenStaysRemoved() throws {
    let old = vault.folder.path + "/old.db"
    try FileManager.default.copyItem(atPath: vault.path, toPath: old)
    try vault.handle().put("a", "new", .whenUnlocked)
    try vault.handle().remove(.test("a"))
    let queue = try vault.rawDatabase()
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "ATTACH ? AS old", arguments: [old])
      for table in ["item", "token"] {
        try database.execute(
          sql: "INSERT OR IGNORE INTO main.\(table) SELECT * FROM old.\(table)")
      }
    }
    try queue.close()
    expect(.damaged) { try vault.handle().text("a") }
    expect(.damaged) { try vault.handle().search(CredentialQuery()) }
    #expect(try vault.handle().search(CredentialQuery(account: "a")).credentials.isEmpty)
    expect(.damaged) { try vault.handle().put("a", "newest", .whenUnlocked) }
    try expectProblems()
  }

  private func expectProblems() throws {
    let report = try vault.handle().verify()
    #expect(!report.isIntact)
    expect(.damaged) { try vault.handle().backup(to: vault.folder.path + "/backup.db") }
    // An item that names another device would be lost, which is refused first.
    expect(oneOf: [.damaged, .cancelled]) {
      try vault.handle().addPassphraseSlot(SecretBytes(copying: "open"))
    }
  }
}
