import Keychain
import Prephirences
import Synchronization
import Testing

@Suite("Observing a keychain as preferences")
struct PreferenceObservingTests {
  private let store = InMemoryCredentialStore()

  @Test func oneKeyAsASequence() async throws {
    let keychain = KeychainPreferences(service: "s", store: store)
    try keychain.set("0", for: "a")
    var changes = keychain.changes(forKey: "a", initial: true).makeAsyncIterator()
    let initial = await changes.next()
    #expect(initial?.newValue as? String == "0")
    #expect(initial?.isInitial == true)
    try keychain.set("1", for: "b")
    try KeychainPreferences(service: "t", store: store).set("1", for: "a")
    try KeychainPreferences(service: "s", store: store).set("1", for: "a")
    let changed = await changes.next()
    #expect(changed?.key == "a")
    #expect(changed?.newValue as? String == "1")
    #expect(changed?.oldValue == nil)
    try keychain.removeValue(for: "a")
    let removed = await changes.next()
    #expect(removed?.isInitial == false)
    #expect(removed?.newValue == nil)
  }

  @Test func keysAreDistinguishedByBytes() async throws {
    let keychain = KeychainPreferences(service: "s", store: store)
    var changes = keychain.changes(forKeys: ["e\u{301}", "end"]).makeAsyncIterator()
    try keychain.set("1", for: "\u{e9}")
    try keychain.set("2", for: "end")
    #expect(await changes.next()?.newValue as? String == "2")
  }

  @Test func handlerMayUseTheKeychain() async throws {
    let keychain = KeychainPreferences(service: "s", store: store)
    let observation = keychain.observe(forKey: "a") { change in
      keychain["copy"] = change.newValue
    }
    var copies = keychain.changes(forKey: "copy").makeAsyncIterator()
    try keychain.set("1", for: "a")
    #expect(await copies.next()?.newValue as? String == "1")
    withExtendedLifetime(observation) {}
  }

  @Test func onePreferenceAndComposite() async throws {
    let keychain = KeychainPreferences(service: "s", store: store)
    let preference: MutablePreference<Int> = keychain.preference(forKey: "count")
    var values = preference.values().makeAsyncIterator()
    #expect(await values.next() == .some(nil))
    let composite = CompositePreferences([keychain, DictionaryPreferences(["count": 7])])
    var changes = composite.changes(forKey: "count").makeAsyncIterator()
    preference.value = 1
    #expect(await values.next() == .some(1))
    let change = await changes.next()
    #expect(change?.oldValue as? Int == 7)
    #expect(change?.newValue as? Int == 1)
  }
}
