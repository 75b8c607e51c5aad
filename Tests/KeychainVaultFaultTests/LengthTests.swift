import Foundation
import GRDB
import KeychainCredentials
import KeychainVault
import KeychainVaultTesting
import Testing

/// Values longer than any that a vault has.
@Suite("A value is too long")
struct LengthTests {
  @Test(arguments: [
    "item SET metadata", "item SET secret", "item SET device", "item SET id",
    "state SET box", "vault SET check0", "slot SET salt", "slot SET box", "token SET token",
    "token SET item", "access_group SET box", "access_group SET token",
  ])
  func itIsDamage(_ column: String) throws {
    let vault = try TestVault()
    try vault.handle().put("a", "one", .always, group: "group")
    let open = vault.handle()
    _ = try open.text("a", group: "group")
    try vault.tamper {
      let table = column.split(separator: " ")[0]
      let row = table == "token" ? " WHERE token = (SELECT min(token) FROM token)" : ""
      try $0.execute(sql: "UPDATE \(column) = zeroblob(30000000)\(row)")
    }
    for handle in [open, vault.handle()] {
      #expect(throws: KeychainError.self) { try handle.verify().requireIntact() }
      let error = #expect(throws: KeychainError.self) {
        try handle.backup(to: vault.folder.path + "/copy.db")
      }
      #expect(error?.code == .damaged)
    }
    #expect(!FileManager.default.fileExists(atPath: vault.folder.path + "/copy.db"))
  }
}

extension VerificationReport {
  fileprivate func requireIntact() throws {
    guard isIntact else { throw KeychainError(.damaged, "\(problems)") }
  }
}
