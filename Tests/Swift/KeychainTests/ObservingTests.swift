import Keychain
import KeychainCredentials
import Synchronization
import Testing

@Suite("Observing preferences")
struct ObservingTests {
  @Test func onlyKeysOfTheseValuesAreReported() throws {
    let store = InMemoryCredentialStore()
    let keychain = KeychainPreferences(service: "s", accessGroup: "g", store: store)
    let keys = Mutex<[String?]>([])
    let observation = keychain.observe { key in keys.withLock { $0.append(key) } }
    try keychain.set("1", for: "a")
    try KeychainPreferences(service: "s", store: store).set("1", for: "group")
    try KeychainPreferences(service: "t", accessGroup: "g", store: store).set("1", for: "service")
    try KeychainPreferences(server: "s", accessGroup: "g", store: store).set("1", for: "server")
    try KeychainPreferences(service: "s", accessGroup: "g", store: store).set("2", for: "b")
    try keychain.set("3", for: "a")
    #expect(keys.withLock(\.self) == ["a", "b", "a"])
    observation.cancel()
    try keychain.set("4", for: "a")
    #expect(keys.withLock { $0.count } == 3)
  }

  @Test func keysAreASequence() async throws {
    let keychain = KeychainPreferences(service: "s", store: InMemoryCredentialStore())
    var changes = keychain.changes().makeAsyncIterator()
    try keychain.set("1", for: "a")
    #expect(await changes.next() == .some("a"))
  }
}
