import Foundation
import Keychain
import Testing

@Suite("A program that keeps secrets")
struct KeychainTests {
  @Test func theTenLinesWork() async throws {
    let keychain = KeychainPreferences(service: "tests", store: InMemoryCredentialStore())
    #expect(try await keepToken("secret", in: keychain) == 6)
    #expect(usePreferences(keychain) == 42)
    #expect(keychain.accessibility == .afterFirstUnlock)
    #expect(try await useSecrets(InMemoryCredentialStore()) != nil)
  }

  private let renewed = Tokens(access: "b", refresh: "r", expires: .distantFuture)

  @Test func otherSamplesCompile() async throws {
    let keychain = KeychainPreferences(service: "tests", store: InMemoryCredentialStore())
    for number in 1...2 { #expect(try count(in: keychain) == number) }
    #expect(try keychain.value(Tokens.self, for: "copy")?.access == "b")
    #expect(try keychain.credential(for: "copy")?.attributes == ["of": "api"])
    #expect(try keychain.credential(for: "api")?.expires == .distantFuture)
    #expect(
      try await accessTokenOrUnsaved(
        in: keychain, renew: { _ in throw NotSignedIn() }) == "a")
    #expect(try await renewedAccessToken(in: keychain, insteadOf: "a") { _ in renewed } == "b")
    try await checkRenewal()
    #expect(NotSignedIn().localizedDescription == "not signed in: run 'mytool login'")
  }

  @Test func theSampleUsesWhatWasNotSaved() async throws {
    let store = InMemoryCredentialStore()
    let keychain = KeychainPreferences(service: "tests", store: store)
    let token = try await accessTokenOrUnsaved(in: keychain) { _ in
      store.fail(.writing, with: KeychainError(.locked, "as the test says"))
      return renewed
    }
    #expect(token == "b")
    store.succeed()
    #expect(try !keychain.contains("api"))
  }

  @Test func theSampleOfTheArticleWorks() async throws {
    let keychain = KeychainPreferences(service: "tests", store: InMemoryCredentialStore())
    await #expect(throws: NotSignedIn.self) {
      try await accessToken(in: keychain) { _ in throw CancellationError() }
    }
    try keychain.set(Tokens(access: "a", refresh: "r", expires: .now), for: "api")
    let access = try await accessToken(in: keychain) { refresh in
      Tokens(access: "b-" + refresh, refresh: "r2", expires: .now + 3600)
    }
    #expect(access == "b-r")
    #expect(try await accessToken(in: keychain) { _ in throw NotSignedIn() } == "b-r")
  }

  /// Every sample of the article is part of a compiled program.
  @Test func theSamplesOfTheArticleCompile() throws {
    let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
    func text(_ path: String) throws -> String {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
    let compiled = try text("Tests/Swift/ClientTests/RenewedTokens.swift")
    let article = try text("Sources/Keychain/Keychain/Documentation.docc/RenewingTokens.md")
    let samples = article.components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    #expect(samples.count == 4)
    for sample in samples { #expect(compiled.contains(sample), "\(sample)") }
  }
}
