import ArgumentParser
import Foundation
import KeychainCredentials
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Credentials that lists select")
struct ListFilterTests {
  @Test func serviceIsMatchedUnlessAlreadyGiven() {
    let credential = Credential(.genericPassword(service: "web", account: "alice"), label: "Key")
    let everywhere = CredentialQuery()
    for pattern in ["web", "al*", "Key"] {
      #expect(NamePattern(pattern).matches(credential, foundBy: everywhere))
    }
    #expect(!NamePattern("web").matches(credential, foundBy: CredentialQuery(service: "web")))
  }

  @Test func expiryBoundsAreIncluded() throws {
    let now = Date()
    let credentials = [nil, 0, -1, 86_400, 86_401].map { (offset: Double?) in
      Credential(
        .genericPassword(service: "s", account: "\(offset ?? .nan)"),
        expires: offset.map(now.addingTimeInterval))
    }
    let expired = try ListFilterOptions.parse(["--expired"])
    #expect(expired.selection(of: credentials, now: now) == [credentials[2], credentials[1]])
    let soon = try ListFilterOptions.parse(["--expiring-within", "1d"])
    #expect(
      soon.selection(of: credentials, now: now)
        == [credentials[2], credentials[1], credentials[3]])
    let all = try ListFilterOptions.parse([])
    #expect(all.selection(of: credentials, now: now) == credentials)
  }

  @Test func expiryIsCounted() {
    let now = Date()
    let credentials = [nil, -1, 29, 31].map { (days: Double?) in
      Credential(
        .genericPassword(service: "s", account: "\(days ?? .nan)"),
        expires: days.map { now.addingTimeInterval($0 * 86_400) })
    }
    let summary = ExpirySummary(
      CredentialSearchResult(credentials: credentials, lockedCount: 3), now: now)
    #expect(summary.expiredCount == 1 && summary.expiringCount == 1 && summary.unknownCount == 3)
    #expect(summary.needsAttention && !summary.needsAllGroups)
  }
}
