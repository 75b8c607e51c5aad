internal import KeychainCredentials
internal import Testing

@Suite("Searches that did not look at everything")
struct IncompleteSearchTests {
  @Test func completeSearchIsNoError() {
    #expect(KeychainError(incomplete: CredentialSearchResult(credentials: [])) == nil)
  }

  @Test func firstReasonCounts() {
    let failure = KeychainError(.noStore, "no bus")
    var result = CredentialSearchResult(
      credentials: [], lockedCount: 2, damaged: ["one"], otherDeviceCount: 1, failures: [failure])
    #expect(KeychainError(incomplete: result) == failure)
    result.failures = []
    #expect(KeychainError(incomplete: result)?.code == .damaged)
    #expect(KeychainError(incomplete: result)?.message == "1 item is damaged: one")
    result.damaged = []
    #expect(KeychainError(incomplete: result)?.code == .locked)
    #expect(KeychainError(incomplete: result)?.message == "2 items that may match are locked")
    result.lockedCount = 0
    #expect(KeychainError(incomplete: result)?.code == .otherDevice)
  }
}
