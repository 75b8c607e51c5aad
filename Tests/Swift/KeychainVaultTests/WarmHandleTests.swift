import Foundation
import KeychainCredentials
import KeychainVaultTesting
import Testing

@testable import KeychainVault
@testable import KeychainVaultFormat

/// A handle that knows the state, below which rows are changed that the state does not count.
@Suite("Handles that know a vault")
struct WarmHandleTests {
  private let vault: TestVault
  private let warm: Vault

  init() throws {
    vault = try TestVault()
    warm = vault.handle()
    try warm.put("a", "secret")
  }

  /// Otherwise it would go on in a vault that nobody else can open.
  private func expectNoWrite() throws {
    let before = try Data(contentsOf: URL(filePath: vault.path))
    #expect(throws: KeychainError.self) { try warm.put("b") }
    #expect(throws: KeychainError.self) { try warm.withTransaction { try $0.put("b", "b") } }
    #expect(throws: KeychainError.self) { try warm.remove(.test("a")) }
    #expect(throws: KeychainError.self) { try warm.verify() }
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
    // What it has proved stays so.
    #expect(try warm.text("a") == "secret")
  }

  @Test func itDoesNotWriteBelowADamagedList() throws {
    try vault.write { rows throws(KeychainError) in
      let row = try rows.membersRow()
      try rows.put(
        MembersRow(
          list: Data(repeating: 1, count: row.list.count), administration: row.administration))
    }
    try expectNoWrite()
  }

  @Test func itDoesNotWriteBelowADamagedHead() throws {
    try vault.write { rows throws(KeychainError) in
      let row = try rows.headRow()
      try rows.put(
        HeadRow(
          id: row.id, epoch: row.epoch, checks: row.checks, parameters: row.parameters,
          administration: row.administration, macs: [row.macs[1], row.macs[0], row.macs[2]],
          generation: row.generation))
    }
    try expectNoWrite()
  }
}
