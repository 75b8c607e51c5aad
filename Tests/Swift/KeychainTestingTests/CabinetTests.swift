import KeychainCredentials
import KeychainTesting
import Testing

/// A store of a client, which has no more access to the package than any client.
@Suite("The contract of a client's store", .timeLimit(.minutes(10)))
struct CabinetTests {
  private static let contract = StoreContract(
    largestSecret: 64 * 1024, refusedAccessibilities: [.whenPasscodeSetThisDeviceOnly])

  @Test(arguments: contract.clauses)
  func publicInterfaceSufficesForStore(_ clause: ContractClause) async throws {
    try await clause.check(Cabinet())
  }

  @Test(arguments: [Cabinet.Fault.forgetsCreation, .repeatsVersion])
  func brokenStoreFails(_ fault: Cabinet.Fault) async {
    await withKnownIssue {
      for clause in Self.contract.clauses { try await clause.check(Cabinet(fault)) }
    }
  }
}
