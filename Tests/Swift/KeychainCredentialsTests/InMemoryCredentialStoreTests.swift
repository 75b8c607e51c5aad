internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainTesting
internal import Testing

@Suite("Store in memory", .timeLimit(.minutes(10)))
struct InMemoryCredentialStoreTests {
  @Test(
    arguments: StoreContract(refusedAccessibilities: [.whenPasscodeSetThisDeviceOnly]).clauses)
  func keeps(_ clause: ContractClause) async throws {
    try await clause.check(InMemoryCredentialStore())
  }

  @Test func storesAreSeparate() throws {
    let identity = CredentialIdentity.genericPassword(service: "s", account: "a")
    let first = InMemoryCredentialStore()
    try first.set(Credential(identity), secret: .init(copying: "s"))
    #expect(try InMemoryCredentialStore().credential(for: identity) == nil)
  }
}
