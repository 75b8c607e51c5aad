import ArgumentParser
import Foundation
import KeychainCredentials
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Names that patterns and lists select")
struct NamePatternTests {
  @Test(arguments: [
    ("", ""), ("a", "a"), ("*", ""), ("*", "anything/at.all"), ("a*", "a"), ("*b", "ab"),
    ("a*c*e", "abcde"), ("*a*", "xax"), ("**", "x"), ("?", "é"), ("??", "e\u{301}"), ("a?c", "a/c"),
    ("[abc]", "b"), ("[a-c]x", "cx"), ("[!a-c]", "d"), ("[^a-c]", "d"), ("[]]", "]"), ("[!]]", "a"),
    ("[a-]", "-"), ("[-a]", "-"), ("[\\]]", "]"), ("[a\\-c]", "-"), ("\\*", "*"), ("\\[a]", "[a]"),
    ("[a", "[a"), ("a\\", "a\\"), (".*", ".hidden"), ("*.*", "a.b.c"), ("*ab", "aab"),
    ("[😀-😂]", "😁"),
  ])
  func matches(_ pattern: String, _ name: String) {
    #expect(NamePattern(pattern).matches(name))
  }

  @Test(arguments: [
    ("", "a"), ("a", ""), ("a", "A"), ("a", "ab"), ("?", ""), ("?", "ab"), ("a*c", "abcd"),
    ("*b", "ba"), ("[a-c]", "d"), ("[!a-c]", "b"), ("[!a]", ""), ("[c-a]", "b"), ("\\*", "a"),
    ("[a", "a"), ("é", "e\u{301}"),
  ])
  func doesNotMatch(_ pattern: String, _ name: String) {
    #expect(!NamePattern(pattern).matches(name))
  }

  @Test(.timeLimit(.minutes(1)))
  func hostilePatternsEnd() {
    let name = String(repeating: "a", count: 5000)
    #expect(!NamePattern(String(repeating: "*a", count: 200) + "b").matches(name))
  }

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

  @Test(arguments: [
    ("plain-1.2@x", "plain-1.2@x"), ("", "''"), ("two words", "'two words'"),
    ("it's", "'it'\\''s'"), ("$(x)", "'$(x)'"), ("~", "'~'"), ("é", "'é'"),
  ])
  func wordsAreQuotedForShells(_ word: String, _ quoted: String) {
    #expect(ShellText.quoted(word) == quoted)
  }
}
