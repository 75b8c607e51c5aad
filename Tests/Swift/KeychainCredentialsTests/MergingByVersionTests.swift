internal import ForwardingStores
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainTesting
internal import Synchronization
internal import Testing

@Suite("Merging in stores without their own method", .timeLimit(.minutes(10)))
struct MergingByVersionTests {
  private let identity = CredentialIdentity.genericPassword(service: "s", account: "a")

  @Test(arguments: StoreContract().clauses)
  func keeps(_ clause: ContractClause) async throws {
    try await clause.check(PlainStore())
  }

  @Test func conflictIsMergedAgain() throws {
    let store = PlainStore()
    store.interfere(times: 3)
    let merged = try store.merge(
      CredentialUpdate(label: .set("L")), secret: SecretBytes(copying: "s"), into: identity)
    #expect(merged.replaced?.comment == "other 3")
    #expect(try store.credential(for: identity)?.comment == "other 3")
    #expect(merged.credential.label == "L")
  }

  @Test func endlessConflictTimesOut() throws {
    let store = PlainStore()
    store.interfere(times: .max)
    let error = #expect(throws: KeychainError.self) {
      try store.mergeByVersion(
        CredentialUpdate(label: .set("L")), secret: SecretBytes(copying: "s"), into: identity,
        mode: .addOrReplace, within: .milliseconds(50))
    }
    #expect(error?.code == .timedOut)
    #expect(try store.credential(for: identity)?.label == nil)
  }

  @Test func failedReadWritesNothing() throws {
    let store = PlainStore()
    let failure = KeychainError(.inputOutput, "told to fail")
    store.content.fail(.reading, with: failure, times: 1)
    #expect(throws: failure) {
      try store.merge(CredentialUpdate(), secret: SecretBytes(copying: "s"), into: identity)
    }
    #expect(try store.credential(for: identity) == nil)
  }
}

/// An in-memory store with only the methods that the protocol requires.
private final class PlainStore: ForwardingStore {
  let content = InMemoryCredentialStore()
  private let interference = Mutex((left: 0, done: 0))

  /// Lets another writer come first this many times.
  func interfere(times: Int) { interference.withLock { $0 = (times, 0) } }

  func set(
    _ credential: Credential, secret: borrowing SecretBytes, mode: StoreMode
  ) throws(KeychainError) -> Credential {
    let number = interference.withLock { interference -> Int? in
      guard interference.left > 0 else { return nil }
      interference.left -= 1
      interference.done += 1
      return interference.done
    }
    if let number {
      let other = Credential(credential.identity, comment: "other \(number)")
      try content.set(other, secret: secret, mode: .addOrReplace)
    }
    return try content.set(credential, secret: secret, mode: mode)
  }
}
