import Foundation
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainHelpers

@Suite("The logins of registries")
struct DockerCredentialHelperTests {
  private let store = InMemoryCredentialStore()
  private var helper: DockerCredentialHelper { DockerCredentialHelper(store: store) }

  private func login(_ server: String, _ username: String, _ secret: String) throws
    -> DockerCredential
  {
    DockerCredential(server: server, username: username, secret: try SecretBytes(copying: secret))
  }

  private func put(
    _ password: InternetPassword, _ secret: String, attributes: CredentialAttributes = [:],
    expires: Date? = nil
  ) throws {
    try store.set(
      Credential(
        CredentialIdentity(.internetPassword(password)), expires: expires, attributes: attributes),
      secret: SecretBytes(copying: secret))
  }

  private func secret(_ server: String) throws -> String? {
    try helper.found(server)?.last ?? nil
  }

  @Test func aStoredLoginIsGiven() throws {
    #expect(try helper.found("r:5000") == nil)
    #expect(try helper.store(login("r:5000", "alice", "p")))
    #expect(try helper.found("r:5000") == ["r:5000", "alice", "p"])
  }

  @Test(arguments: [
    "r:5000", "r:5000/", "https://r:5000", "https://r:5000/", "HTTPS://r:5000",
  ])
  func aRegistryIsFoundWithAndWithoutItsScheme(server: String) throws {
    try helper.store(login("r:5000", "alice", "p"))
    #expect(try helper.found(server) == [server, "alice", "p"])
    try helper.erase(server)
    #expect(try helper.list().isEmpty)
  }

  @Test(arguments: [
    "r", "r:5001", "R:5000", "x.r:5000", "r:5000/path", "ftp://r:5000", "r:5000//", "alice@r:5000",
    "r:50000", "https://r:5000/v1/", "//r:5000", "http://r:5000",
  ])
  func nothingElseIsTheSameRegistry(server: String) throws {
    try helper.store(login("r:5000", "alice", "p"))
    #expect(try helper.found(server) == nil)
    try helper.erase(server)
    #expect(try helper.list().count == 1)
  }

  @Test func theExactNameIsFoundFirst() throws {
    try helper.store(login("r", "alice", "bare"))
    try helper.store(login("https://r/", "alice", "exact"))
    #expect(try secret("https://r/") == "exact")
    #expect(try secret("https://r") == "bare")
    #expect(try secret("r/") == "bare")
  }

  @Test func aPasswordWithoutTheMarkIsNoLogin() throws {
    try put(InternetPassword(server: "r", account: "alice"), "p")
    try put(InternetPassword(server: "r", protocol: "https", account: "alice"), "git")
    #expect(try helper.found("r") == nil)
    #expect(try helper.list().isEmpty)
    try helper.erase("r")
    #expect(try store.search(CredentialQuery()).credentials.count == 2)
  }

  @Test(arguments: [
    InternetPassword(server: "r", protocol: "https", account: "a"),
    InternetPassword(server: "r", port: 1, account: "a"),
    InternetPassword(server: "r", path: "p", account: "a"),
    InternetPassword(server: "r", account: "a", securityDomain: "d"),
    InternetPassword(server: "r", account: "a", authenticationType: "t"),
  ])
  func aPasswordWithMoreNamesIsNoLogin(password: InternetPassword) throws {
    try put(password, "p", attributes: ["client": "docker"])
    #expect(try helper.found("r") == nil)
    #expect(try helper.list().isEmpty)
  }

  @Test func aPasswordThatAPersonMarksIsALogin() throws {
    try put(
      InternetPassword(server: "r", account: "robot"), "p", attributes: ["client": "docker"])
    #expect(try secret("r") == "p")
  }

  @Test func somethingElseIsNotOverwritten() throws {
    try put(InternetPassword(server: "r", account: "alice"), "mine")
    let error = try #require(throws: KeychainError.self) {
      try helper.store(login("r", "alice", "p"))
    }
    #expect(error.code == .alreadyExists)
    let identity = CredentialIdentity(
      .internetPassword(InternetPassword(server: "r", account: "alice")))
    let stored = try store.secret(for: identity)?.takeSecret().text
    #expect(stored == "mine")
  }

  @Test func theSameLoginIsNotWrittenAgain() throws {
    try helper.store(login("r", "alice", "p"))
    store.fail(.writing, with: KeychainError(.inputOutput, "nothing may be written"))
    #expect(try helper.store(login("r", "alice", "p")) == false)
  }

  @Test func aNewSecretReplacesTheOldOne() throws {
    try put(
      InternetPassword(server: "r", account: "alice"), "old",
      attributes: ["client": "docker", "team": "web"], expires: .now + 60)
    #expect(try helper.store(login("r", "alice", "new")))
    let credential = try #require(try store.search(CredentialQuery()).credentials.first)
    #expect(credential.expires == nil)
    #expect(credential.attributes == ["client": "docker", "team": "web"])
    #expect(try secret("r") == "new")
  }

  @Test func aRegistryHasOneLogin() throws {
    try helper.store(login("r", "alice", "a"))
    try helper.store(login("s", "alice", "s"))
    try helper.store(login("r", "bob", "b"))
    #expect(try store.search(CredentialQuery(server: "r")).credentials.count == 1)
    #expect(try helper.list().map(\.username) == ["bob", "alice"])
  }

  // Storing was stopped after it wrote the new login.
  @Test func theNewestOfTwoCounts() throws {
    try put(InternetPassword(server: "r", account: "bob"), "b", attributes: ["client": "docker"])
    try put(InternetPassword(server: "r", account: "alice"), "a", attributes: ["client": "docker"])
    #expect(try secret("r") == "a")
    #expect(try helper.list().map(\.username) == ["alice"])
    #expect(try helper.store(login("r", "alice", "a")))
    #expect(try store.search(CredentialQuery()).credentials.count == 1)
  }

  @Test func anAbsentLoginIsErasedWithoutAnError() throws {
    #expect(throws: Never.self) { try helper.erase("r") }
  }

  @Test func anExpiredLoginIsNotGiven() throws {
    try put(
      InternetPassword(server: "r", account: "alice"), "old", attributes: ["client": "docker"],
      expires: .now - 60)
    let error = try #require(throws: KeychainError.self) { _ = try helper.get("r") }
    #expect(error.code == .expired)
    #expect(DockerCredentialHelper.text(for: error) == DockerCredentialHelper.absent)
    #expect(try helper.list().isEmpty)
    #expect(try helper.store(login("r", "alice", "old")))
    #expect(try secret("r") == "old")
  }

  @Test func aLockedStoreIsNotAnAbsentLogin() throws {
    try helper.store(login("r", "alice", "p"))
    store.lock(all: true)
    for call in [
      { _ = try helper.get("r") }, { _ = try helper.list() }, { try helper.erase("r") },
      { _ = try helper.store(login("r", "alice", "p")) },
    ] as [() throws -> Void] {
      let error = try #require(throws: KeychainError.self) { try call() }
      #expect(error.code == .locked)
      #expect(DockerCredentialHelper.text(for: error) == error.message)
    }
  }

  @Test func aLockedStoreIsUnlockedIfThatIsPossible() throws {
    try helper.store(login("r", "alice", "p"))
    store.lock(all: true)
    let unlocking = DockerCredentialHelper(store: store) { _ in store.unlock() }
    #expect(try unlocking.found("r") != nil)
    store.lock(all: true)
    #expect(try unlocking.list().count == 1)
  }

  @Test(arguments: ["a\nb", "a\u{0}b", "a\rb", "a\u{7F}", String(repeating: "a", count: 4097)])
  func namesThatNoRegistryHasAreRefused(name: String) throws {
    for call in [
      { _ = try helper.get(name) }, { try helper.erase(name) },
      { _ = try helper.store(login(name, "alice", "p")) },
    ] as [() throws -> Void] {
      let error = try #require(throws: KeychainError.self) { try call() }
      #expect(error.code == .invalidArgument)
    }
    #expect(try helper.list().isEmpty)
  }

  @Test func namesMustNotBeEmpty() throws {
    let server = try #require(throws: KeychainError.self) { try helper.store(login("", "a", "p")) }
    #expect(DockerCredentialHelper.text(for: server) == "no credentials server URL")
    let user = try #require(throws: KeychainError.self) { try helper.store(login("r", "", "p")) }
    #expect(DockerCredentialHelper.text(for: user) == "no credentials username")
    #expect(throws: KeychainError.self) { try helper.store(login("r", "a\nb", "p")) }
  }

  @Test func groupsHaveLoginsOfTheirOwn() throws {
    let team = DockerCredentialHelper(store: store, accessGroup: "team")
    try team.store(login("r", "alice", "p"))
    #expect(try helper.found("r") == nil)
    #expect(try helper.list().isEmpty)
    #expect(try team.list().count == 1)
  }
}

extension DockerCredentialHelper {
  /// Returns the registry, the user and the secret that a client gets; `nil` if there is no login.
  func found(_ server: String) throws -> [String?]? {
    guard let login = try get(server) else { return nil }
    return [login.server, login.username, login.secret.text]
  }
}
