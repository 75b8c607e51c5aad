import CredentialStoreContract
import KeychainCredentials
import KeychainSecrets
import KeychainVaultTesting
import Testing

@testable import KeychainVault

@Suite("The vault keeps the contract of every store", .timeLimit(.minutes(10)))
struct ContractTests {
  @Test(arguments: ContractClause.all)
  func withADeviceSlot(_ clause: ContractClause) async throws {
    let vault = try TestVault()
    try await clause.check(vault.handle())
    #expect(try vault.handle().verify().problems == [])
  }

  @Test(arguments: ContractClause.all)
  func withAPassphrase(_ clause: ContractClause) async throws {
    let vault = try TestVault()
    try await clause.check(vault.handle(passphrase: "open"))
    #expect(try vault.handle(passphrase: "open").verify().problems == [])
  }
}
