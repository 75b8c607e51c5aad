import ForwardingStores
import Foundation
import KeychainCredentials
import KeychainSecrets
import Synchronization
import Testing

@testable import KeychainHelpers

@Suite("Logins that are replaced at the same time")
struct DockerReplacingTests {
  private let content = InMemoryCredentialStore()
  private var plain: DockerCredentialHelper { DockerCredentialHelper(store: content) }

  private func login(_ username: String) throws -> DockerCredential {
    DockerCredential(server: "r", username: username, secret: try SecretBytes(copying: "p"))
  }

  @Test func aLoginThatIsReplacedMeanwhileIsNotAbsent() throws {
    try plain.store(login("alice"))
    let store = MeddledStore(content) { [plain] in try plain.store(login("bob")) }
    #expect(try DockerCredentialHelper(store: store).found("r") == ["r", "bob", "p"])
  }

  @Test func aLoginThatIsRemovedMeanwhileIsAbsent() throws {
    try plain.store(login("alice"))
    let store = MeddledStore(content) { [plain] in try plain.erase("r") }
    #expect(try DockerCredentialHelper(store: store).found("r") == nil)
  }

  @Test func theLastOfThoseWhoStoreTogetherRemains() throws {
    let store = MeddledStore(content) { [plain] in try plain.store(login("bob")) }
    try DockerCredentialHelper(store: store).store(login("alice"))
    #expect(try content.search(CredentialQuery()).credentials.map(\.identity.account) == ["alice"])
  }

  @Test func aLoginThatIsStoredLaterIsNotRemoved() throws {
    let store = MeddledStore(content, after: 2) { [plain] in try plain.store(login("bob")) }
    try DockerCredentialHelper(store: store).store(login("alice"))
    #expect(try plain.found("r")?[1] == "bob")
  }
}

/// A store in which somebody else does something after one search.
private final class MeddledStore: ForwardingStore {
  let content: InMemoryCredentialStore
  private let remaining: Mutex<Int>
  private let meddle: @Sendable () throws -> Void

  init(
    _ store: InMemoryCredentialStore, after searches: Int = 1,
    _ meddle: @escaping @Sendable () throws -> Void
  ) {
    content = store
    remaining = Mutex(searches)
    self.meddle = meddle
  }

  func search(_ query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    let result = try content.search(query)
    let isTurn = remaining.withLock { remaining in
      remaining -= 1
      return remaining == 0
    }
    if isTurn { #expect(throws: Never.self) { try meddle() } }
    return result
  }
}
