internal import Foundation
internal import Keychain
import Prephirences
internal import Testing

@Suite("User defaults over a keychain")
struct BackedUserDefaultsTests {
  private let store = FailingStore()
  private let keychain: KeychainPreferences
  private let defaults: UserDefaults

  init() throws {
    keychain = preferences(store)
    defaults = BackedUserDefaults(preferences: keychain)
    try keychain.set(1, for: "count")
  }

  @Test func readAndWriteTheKeychain() throws {
    defaults.set("token", forKey: "api")
    defaults["flag"] = true
    #expect(try keychain.string(for: "api") == "token")
    #expect(try keychain.value(Bool.self, for: "flag") == true)
    #expect(defaults.integer(forKey: "count") == 1)
    #expect(defaults.object(forKey: "count") as? Double == 1)
    #expect(defaults.data(forKey: "api") == Data("token".utf8))
    defaults.removeObject(forKey: "api")
    #expect(try keychain.string(for: "api") == nil)
    #expect(defaults.lastPreferencesError == nil)
  }

  @Test func reportALockedKeychain() {
    store.fail(.locked)
    let writes = store.writes
    #expect(defaults.integer(forKey: "count") == 0)
    #expect(defaults.lastPreferencesError?.code == .locked)
    #expect(throws: KeychainError.self) { try defaults.fetchObject(forKey: "count") }
    #expect(throws: KeychainError.self) { try keychain.fetchDictionary() }
    defaults.clearAll()
    #expect(defaults.lastPreferencesError?.code == .locked)
    #expect(store.writes == writes)
    store.fail(nil)
    #expect(defaults.integer(forKey: "count") == 1)
  }

  @Test func aLockedKeychainIsNotAbsent() throws {
    let composite = MutableCompositePreferences([keychain, ["port": 80] as DictionaryPreferences])
    #expect(try composite.fetchObject(forKey: "port") as? Int == 80)
    store.fail(.locked)
    #expect(throws: KeychainError.self) { try composite.fetchObject(forKey: "port") }
  }

  @Test func eachChangeIsPosted() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let observer = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
    ) { _ in continuation.yield() }
    defer { NotificationCenter.default.removeObserver(observer) }
    defaults.set(2, forKey: "count")
    var iterator = stream.makeAsyncIterator()
    #expect(await iterator.next() != nil)
    keychain["count"] = 3
    #expect(await iterator.next() != nil)
  }
}
