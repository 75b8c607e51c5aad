import ForwardingStores
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainHelpers

@Suite("Logins that another program stored")
struct DockerOtherProgramTests {
  /// A store in which items with the marks of docker's own helper are those of another program.
  private struct SharedStore: ForwardingStore {
    let content = InMemoryCredentialStore()

    private func seen(_ credential: Credential) -> Credential {
      var credential = credential
      credential.isOfOtherProgram = credential.attributes["docker_cli"] == "1"
      if credential.isOfOtherProgram { credential.itemAttributes = credential.attributes }
      return credential
    }

    func credential(for identity: CredentialIdentity) throws(KeychainError) -> Credential? {
      try content.credential(for: identity).map(seen)
    }

    func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
      CredentialSearchResult(credentials: try content.search(query).credentials.map(seen))
    }
  }

  private let store = SharedStore()
  private var helper: DockerCredentialHelper { DockerCredentialHelper(store: store) }

  init() throws {
    try store.set(
      Credential(
        CredentialIdentity(.internetPassword(InternetPassword(server: "r", account: "carol"))),
        attributes: ["docker_cli": "1"]),
      secret: SecretBytes(copying: "theirs"))
  }

  private func login(_ username: String, _ secret: String) throws -> DockerCredential {
    DockerCredential(server: "r", username: username, secret: try SecretBytes(copying: secret))
  }

  @Test func theyAreGivenAndListed() throws {
    #expect(try helper.found("r")?.last == "theirs")
    #expect(try helper.list().map(\.username) == ["carol"])
  }

  @Test func theSameLoginIsNotStoredTwice() throws {
    #expect(try helper.store(login("carol", "theirs")) == false)
  }

  @Test func oursTakesPrecedenceAndTheirsStays() throws {
    #expect(try helper.store(login("alice", "ours")))
    #expect(try helper.found("r")?.last == "ours")
    #expect(try helper.list().map(\.username) == ["alice"])
    #expect(try store.search(CredentialQuery()).credentials.count == 2)
  }

  @Test func theyAreErasedWithOurs() throws {
    try helper.store(login("alice", "ours"))
    try helper.erase("r")
    #expect(try helper.found("r") == nil)
  }

  @Test func itemWithMoreAttributesIsNotALogin() throws {
    try store.set(
      Credential(
        CredentialIdentity(.internetPassword(InternetPassword(server: "s", account: "carol"))),
        attributes: ["docker_cli": "1", "application": "other"]),
      secret: SecretBytes(copying: "theirs"))
    #expect(try helper.found("s") == nil)
    try helper.erase("s")
    #expect(try store.search(CredentialQuery()).credentials.count == 2)
  }
}
