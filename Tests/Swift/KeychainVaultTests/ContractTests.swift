import KeychainCredentials
import KeychainSecrets
import KeychainTesting
import KeychainVaultTesting
import Testing

@testable import KeychainVault

@Suite("The vault keeps the contract of every store", .timeLimit(.minutes(10)))
struct ContractTests {
  @Test(
    arguments: StoreContract(refusedAccessibilities: [.whenPasscodeSetThisDeviceOnly]).clauses)
  func withADeviceSlot(_ clause: ContractClause) async throws {
    let vault = try TestVault()
    try await clause.check { vault.handle() }
    #expect(try vault.handle().verify().problems == [])
  }

  @Test(arguments: StoreContract(accessibilities: Accessibility.allCases).clauses)
  func withAPassphrase(_ clause: ContractClause) async throws {
    let vault = try TestVault()
    try await clause.check { vault.handle(passphrase: "open") }
    #expect(try vault.handle(passphrase: "open").verify().problems == [])
  }
}
