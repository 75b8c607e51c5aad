import Keychain
import KeychainTesting
import Testing

@Suite("Contract of the automatic store", .timeLimit(.minutes(10)))
struct StoreContractTests {
  @Test(arguments: StoreContract().clauses)
  func withoutADesktop(_ clause: ContractClause) async throws {
    let machine = try Machine()
    try await clause.check { machine.store() }
  }

  @Test(arguments: StoreContract().clauses)
  func withADeadBus(_ clause: ContractClause) async throws {
    let machine = try Machine()
    try await clause.check { machine.store(machine.deadBus) }
  }
}
