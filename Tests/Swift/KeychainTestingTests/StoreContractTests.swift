import KeychainCredentials
import KeychainTesting
import Testing

@Suite("The contract of stores", .timeLimit(.minutes(10)))
struct StoreContractTests {
  private static let limited = StoreContract(
    largestSecret: 4096, accessibilities: [.whenUnlocked, .always],
    refusedAccessibilities: [.afterFirstUnlock], offersVersions: false, offersObservation: false)

  @Test(arguments: limited.clauses)
  func limitedStorePassesItsContract(_ clause: ContractClause) async throws {
    var store = LimitedStore()
    store.largestSecret = 4096
    store.offersVersions = false
    store.offersObservation = false
    store.refused = [.afterFirstUnlock]
    try await clause.check(store)
  }

  @Test(arguments: LimitedStore.Limit.allCases)
  func brokenStoreFails(_ limit: LimitedStore.Limit) async {
    let contract = StoreContract(
      largestSecret: 4096, accessibilities: [.whenUnlocked, .always],
      refusedAccessibilities: [.afterFirstUnlock])
    await withKnownIssue {
      for clause in contract.clauses {
        let base = InMemoryCredentialStore()
        try await clause.check {
          let reopened = limit == .forgetsOnReopening ? InMemoryCredentialStore() : base
          var store = LimitedStore(limit, base: reopened)
          store.largestSecret = 4096
          store.refused = contract.refusedAccessibilities
          return store
        }
      }
    }
  }

  @Test func breachesOfLimitsFail() async {
    let larger = StoreContract(largestSecret: 8192)
    for limits in [larger, StoreContract(largestSecret: 2048)] {
      await withKnownIssue {
        for clause in limits.clauses {
          var store = LimitedStore()
          store.largestSecret = 4096
          try await clause.check(store)
        }
      }
    }
  }

  @Test func clausesOfMissingOffersAreLeftOut() {
    let all = StoreContract().clauses.map(\.testDescription)
    let limited = Self.limited.clauses.map(\.testDescription)
    #expect(Set(limited).isStrictSubset(of: all))
    #expect(Set(all).count == all.count)
    #expect(all.contains("check-and-set counts exactly"))
    #expect(!limited.contains("check-and-set counts exactly"))
  }

  /// Issues would not be reported there.
  @Test func checksOutsideTestsAreRefused() async {
    guard let clause = StoreContract().clauses.first else { return }
    let error = await Task.detached {
      await #expect(throws: KeychainError.self) { try await clause.check(LimitedStore()) }
    }.value
    #expect(error?.code == .invalidArgument)
  }
}
