import ArgumentParser
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainCommands
@testable import PrephirencesCommandLine

@Suite("Which credential a command line means")
struct CredentialFinderTests {
  private let store = InMemoryCredentialStore()

  @Test func serviceIsAssumed() throws {
    try add(.genericPassword(service: "default", account: "a"))
    #expect(try finds(account: "a"))
    #expect(try !finds(account: "a", "--service", "other"))
  }

  @Test func serverAloneFindsTheOnlyOne() throws {
    let identity = try add(server: "h", port: 443)
    #expect(try finder("--server", "h").identity(account: "a") == identity)
    #expect(try !finds(account: "a", "--server", "h", "--port", "80"))
    #expect(try !finds(account: "b", "--server", "h"))
  }

  @Test func exactNamesArePreferred() throws {
    let plain = try add(server: "h")
    _ = try add(server: "h", port: 443)
    #expect(try finder("--server", "h").identity(account: "a") == plain)
  }

  @Test func severalAreAmbiguousAndNamed() throws {
    _ = try add(server: "h", port: 80)
    _ = try add(server: "h", port: 443)
    let error = #expect(throws: KeychainError.self) {
      try finder("--server", "h").identity(account: "a")
    }
    #expect(error?.code == .ambiguous)
    #expect(error?.message.contains("80") == true && error?.message.contains("443") == true)
    #expect(try finds(account: "a", "--server", "h", "--port", "80"))
  }

  @Test func realmDistinguishesCredentials() throws {
    _ = try add(server: "h", port: 80, realm: "one")
    let two = try add(server: "h", port: 80, realm: "two")
    #expect(try finder("--server", "h", "--security-domain", "two").identity(account: "a") == two)
  }

  @Test func attributesFindWithoutAService() throws {
    try add(.genericPassword(service: "web", account: "a"), attributes: ["env": "test"])
    #expect(try found(by: ["env": "test"])?.account == "a")
    #expect(try found(by: ["env": "live"]) == nil)
  }

  @Test func groupIsTheUnnamedOneUnlessGiven() throws {
    try add(
      .genericPassword(service: "default", account: "a", accessGroup: "g"),
      attributes: ["env": "test"])
    #expect(try !finds(account: "a"))
    #expect(try found(by: ["env": "test"]) == nil)
    #expect(try found(by: ["env": "test"], "--access-group", "g") != nil)
  }

  private func finder(_ arguments: String...) throws -> CredentialFinder {
    try finder(arguments)
  }

  private func finder(_ arguments: [String]) throws -> CredentialFinder {
    CredentialFinder(
      store: store, options: try ItemOptions.parse(arguments), defaultService: "default",
      unlock: { _ in }, unlocking: { _ in .unlock })
  }

  /// Returns whether a credential with the names of an account is found.
  private func finds(account: String, _ arguments: String...) throws -> Bool {
    try store.credential(for: finder(arguments).identity(account: account)) != nil
  }

  private func found(
    by attributes: CredentialAttributes, _ arguments: String...
  ) throws -> CredentialIdentity? {
    let finder = try finder(arguments)
    return try finder.identity(
      matching: finder.options.query(account: nil, attributes: attributes))
  }

  private func add(
    _ identity: CredentialIdentity, attributes: CredentialAttributes = [:]
  ) throws {
    try store.set(
      Credential(identity, attributes: attributes), secret: try SecretBytes(copying: "s"))
  }

  private func add(
    server: String, port: UInt16 = 0, realm: String = ""
  ) throws -> CredentialIdentity {
    let identity = CredentialIdentity(
      .internetPassword(
        InternetPassword(server: server, port: port, account: "a", securityDomain: realm)))
    try add(identity)
    return identity
  }
}
