internal import KeychainCredentials
internal import KeychainSecrets
internal import Synchronization
internal import Testing

@Suite("In-memory store in a program's tests")
struct InMemoryStoreStateTests {
  private let store = InMemoryCredentialStore()

  private func identity(_ account: String) -> CredentialIdentity {
    .genericPassword(service: "s", account: account)
  }

  private func put(_ accessibility: Accessibility, _ account: String? = nil) throws {
    let identity = identity(account ?? "\(accessibility)")
    try store.set(
      Credential(identity, accessibility: accessibility), secret: SecretBytes(copying: "s"))
  }

  private func text(_ account: String) throws(KeychainError) -> String? {
    guard let stored = try store.secret(for: identity(account)) else { return nil }
    return stored.secret.withBytes { $0.text }
  }

  private func code(_ body: () throws -> Void) -> KeychainError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? KeychainError)?.code
    }
  }

  private static let accessibilities: [Accessibility] = [.whenUnlocked, .afterFirstUnlock, .always]

  @Test(arguments: [
    (false, [Accessibility.whenUnlocked]), (true, [.whenUnlocked, .afterFirstUnlock]),
  ])
  func aLockedStoreKeepsWhatNeedsItUnlocked(all: Bool, locked: [Accessibility]) throws {
    for accessibility in Self.accessibilities { try put(accessibility) }
    #expect(!store.isLocked)
    store.lock(all: all)
    #expect(store.isLocked)
    for accessibility in Self.accessibilities {
      let account = "\(accessibility)"
      let expected: KeychainError.Code? = locked.contains(accessibility) ? .locked : nil
      #expect(code { _ = try store.secret(for: identity(account)) } == expected)
      #expect(code { _ = try store.credential(for: identity(account)) } == expected)
      #expect(code { try put(accessibility) } == expected)
      #expect(code { try put(accessibility, "new") } == expected)
      #expect(code { try store.update(identity(account), with: CredentialUpdate()) } == expected)
      #expect(code { try store.rename(identity(account), to: identity(account)) } == expected)
    }
    let found = try store.search(CredentialQuery(service: "s"))
    #expect(found.lockedCount == locked.count)
    #expect(found.credentials.map(\.identity.account).contains("always"))
    #expect(code { try store.remove(identity("whenUnlocked")) } == .locked)
    // A locked item is not reported as missing, nor a missing item as locked.
    #expect(try store.credential(for: identity("absent")) == nil)
    #expect(try !store.remove(identity("absent")))
    store.unlock()
    #expect(try Self.accessibilities.map { try text("\($0)") } == ["s", "s", "s"])
  }

  @Test func lockedStoreRefusesItemsReadableWhileUnlocked() throws {
    try put(.always, "a")
    store.lock()
    let update = CredentialUpdate(accessibility: .whenUnlocked)
    #expect(code { try store.update(identity("a"), with: update) } == .locked)
    #expect(try store.credential(for: identity("a"))?.accessibility == .always)
  }

  @Test func callsFailOnRequest() throws {
    try put(.whenUnlocked, "a")
    let failure = KeychainError(.damaged, "a test wants it")
    store.fail(with: failure)
    for _ in 0..<2 {
      #expect(throws: failure) { try store.secret(for: identity("a")) == nil }
      #expect(throws: failure) { try store.credential(for: identity("a")) }
      #expect(throws: failure) { try store.search(CredentialQuery()) }
      #expect(throws: failure) { try put(.whenUnlocked, "a") }
      #expect(throws: failure) { try store.update(identity("a"), with: CredentialUpdate()) }
      #expect(throws: failure) { try store.rename(identity("a"), to: identity("b")) }
      #expect(throws: failure) { try store.remove(identity("a")) }
    }
    store.succeed()
    #expect(try text("a") == "s")
  }

  @Test func someCallsFailAndOnlySoOften() throws {
    let (full, busy) = (KeychainError(.inputOutput, "full"), KeychainError(.busy, "busy"))
    store.fail(.writing, with: full, times: 2)
    #expect(try store.credential(for: identity("a")) == nil)
    #expect(throws: full) { try put(.whenUnlocked, "a") }
    store.fail(.reading, with: busy, times: 1)
    #expect(throws: full) { try store.remove(identity("a")) }
    try put(.whenUnlocked, "a")
    #expect(throws: busy) { try store.search(CredentialQuery()) }
    #expect(try text("a") == "s")
    store.fail(with: busy, times: 0)
    try put(.whenUnlocked, "a")
  }

  @Test func observersAreNotifiedOfChangesOnly() throws {
    let heard = Mutex<[CredentialChange]>([])
    let observation = store.observe { change in heard.withLock { $0.append(change) } }
    defer { observation.cancel() }
    for account in ["b", "a"] { try put(.whenUnlocked, account) }
    let added = heard.withLock { $0 }
    store.fail(.writing, with: KeychainError(.inputOutput, "full"), times: 1)
    #expect(code { try store.remove(identity("a")) } == .inputOutput)
    store.lock()
    #expect(code { try store.remove(identity("a")) } == .locked)
    #expect(heard.withLock { $0 } == added)
    store.removeAll()
    #expect(
      heard.withLock { Array($0.dropFirst(added.count)) }
        == ["a", "b"].map { CredentialChange(identity($0), .removed) })
    #expect(try store.search(CredentialQuery()) == CredentialSearchResult(credentials: []))
  }
}
