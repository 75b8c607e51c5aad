import ArgumentParser
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainCommands

@Suite("Which credential a command line means")
struct CredentialFinderTests {
  private let store = InMemoryCredentialStore()

  @Test func serviceIsAssumed() throws {
    try add(.genericPassword(service: "default", account: "a"))
    #expect(try finder().identity(account: "a")?.account == "a")
    #expect(try finder("--service", "other").existingCode(account: "a") == .notFound)
  }

  @Test func serverAloneFindsTheOnlyOne() throws {
    let identity = try add(server: "h", port: 443)
    #expect(try finder("--server", "h").identity(account: "a") == identity)
    #expect(try finder("--server", "h", "--port", "80").identity(account: "a") == nil)
    #expect(try finder("--server", "h").identity(account: "b") == nil)
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
    #expect(try finder("--server", "h", "--port", "80").identity(account: "a") != nil)
  }

  @Test func realmTellsCredentialsApart() throws {
    _ = try add(server: "h", port: 80, realm: "one")
    let two = try add(server: "h", port: 80, realm: "two")
    #expect(try finder("--server", "h", "--security-domain", "two").identity(account: "a") == two)
  }

  @Test func attributesFindWithoutAService() throws {
    try add(.genericPassword(service: "web", account: "a"), attributes: ["env": "test"])
    let found = try finder().identity(attributes: ["env": "test"], account: nil)
    #expect(found?.account == "a")
    #expect(try finder().identity(attributes: ["env": "live"], account: nil) == nil)
  }

  @Test func groupIsTheUnnamedOneUnlessGiven() throws {
    try add(
      .genericPassword(service: "default", account: "a", accessGroup: "g"),
      attributes: ["env": "test"])
    #expect(try finder().existingCode(account: "a") == .notFound)
    #expect(try finder().identity(attributes: ["env": "test"], account: nil) == nil)
    #expect(
      try finder("--access-group", "g").identity(attributes: ["env": "test"], account: nil) != nil)
  }

  private func finder(_ arguments: String...) throws -> CredentialFinder {
    CredentialFinder(
      store: store, options: try ItemOptions.parse(arguments), defaultService: "default",
      unlock: { _ in })
  }

  private func add(
    _ identity: CredentialIdentity, attributes: CredentialAttributes = [:]
  ) throws {
    try store.store(
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

extension CredentialFinder {
  /// The code with which an account is not to be had, or `nil` if it is there.
  fileprivate func existingCode(account: String) throws -> KeychainError.Code? {
    guard try store.credential(for: existing(account: account)) == nil else { return nil }
    return .notFound
  }
}
