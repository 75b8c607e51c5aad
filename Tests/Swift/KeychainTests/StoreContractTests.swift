import CredentialStoreContract
import Keychain
import Testing

@Suite("The choice of store keeps the contract of every store", .timeLimit(.minutes(10)))
struct StoreContractTests {
  @Test(arguments: ContractClause.all)
  func withoutADesktop(_ clause: ContractClause) async throws {
    try await clause.check(Machine().store())
  }

  @Test(arguments: ContractClause.all)
  func withADeadBus(_ clause: ContractClause) async throws {
    let machine = try Machine()
    try await clause.check(machine.store(machine.deadBus))
  }
}
