import Foundation
import PrephirencesDurable
import PrephirencesShared
import Testing

@Suite("The store of iCloud's name", .timeLimit(.minutes(2)))
struct PreferencesUbiquitousTests {
  private struct Posted: Sendable, Equatable {
    let reason: Int?
    let keys: Set<String>
  }

  private func posted(
    by store: NSUbiquitousKeyValueStore
  ) -> (Deliveries<Posted>, NotificationToken) {
    let deliveries = Deliveries<Posted>()
    let token = NotificationCenter.default.addObserver(
      forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
    ) { notification in
      let info = notification.userInfo
      #expect(info?[NSUbiquitousKeyValueStoreChangeReasonKey] is NSNumber)
      deliveries.append(
        Posted(
          reason: info?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int,
          keys: Set(info?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? [])))
    }
    return (deliveries, NotificationToken(token))
  }

  private final class NotificationToken {
    private let token: any NSObjectProtocol
    init(_ token: any NSObjectProtocol) { self.token = token }
    deinit { NotificationCenter.default.removeObserver(token) }
  }

  @Test func namesAndReasonsAreThoseOfApple() {
    #expect(
      NSUbiquitousKeyValueStore.didChangeExternallyNotification.rawValue
        == "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")
    #expect(NSUbiquitousKeyValueStoreServerChange == 0)
    #expect(NSUbiquitousKeyValueStoreInitialSyncChange == 1)
    #expect(NSUbiquitousKeyValueStoreQuotaViolationChange == 2)
    #expect(NSUbiquitousKeyValueStoreAccountChange == 3)
  }

  @Test func changesOfOtherMachinesArePosted() async throws {
    let address = try PreferencesEngine.address()
    let (one, two) = (try PreferencesMachine(address), try PreferencesMachine(address))
    let store = NSUbiquitousKeyValueStore(preferences: one.preferences())
    let other = NSUbiquitousKeyValueStore(preferences: two.preferences())
    let (own, ownToken) = posted(by: store)
    let (seen, token) = posted(by: other)
    store.set(1, forKey: "a")
    store.set("b", forKey: "b")
    try await store.preferences.flush(deadline: .seconds(20))
    try seen.wait { $0.reduce(into: Set()) { $0.formUnion($1.keys) } == ["a", "b"] }
    #expect(other.longLong(forKey: "a") == 1 && other.string(forKey: "b") == "b")
    store.removeObject(forKey: "a")
    try await store.preferences.flush(deadline: .seconds(20))
    try seen.wait {
      $0.last == Posted(reason: NSUbiquitousKeyValueStoreServerChange, keys: ["a"])
    }
    #expect(other.object(forKey: "a") == nil)
    #expect(own.all.isEmpty)
    withExtendedLifetime((ownToken, token)) {}
  }

  @Test func refusedChangesArePostedAsQuotaViolations() throws {
    let machine = try PreferencesMachine(try PreferencesEngine.address()) { $0.quotaKeys = 1 }
    let store = NSUbiquitousKeyValueStore(preferences: machine.preferences())
    let (seen, token) = posted(by: store)
    store.set(1, forKey: "a")
    store.set(2, forKey: "b")
    #expect(seen.all == [Posted(reason: 2, keys: ["b"])])
    #expect(store.lastPreferencesError?.code == .overQuota)
    #expect(store.object(forKey: "b") == nil)
    store.set(3, forKey: "a")
    #expect(store.lastPreferencesError == nil)
    withExtendedLifetime(token) {}
  }

  @Test func keysThatAreTooLongAreReported() throws {
    let store = NSUbiquitousKeyValueStore(preferences: try PreferencesMachine().preferences())
    let (seen, token) = posted(by: store)
    let failures = Deliveries<PreferencesError.Code>()
    let observation = store.preferences.observeFailures { failures.append($0.code) }
    let fitting = String(repeating: "é", count: 32)
    store.set(1, forKey: fitting)
    #expect(store.lastPreferencesError == nil)
    store.set(1, forKey: fitting + "e")
    #expect(store.lastPreferencesError?.code == .overQuota)
    #expect(failures.all == [.overQuota] && seen.all.isEmpty)
    #expect(store.dictionaryRepresentation.count == 1)
    #expect(throws: PreferencesError.self) { try store.storeObject(1, forKey: fitting + "e") }
    observation.cancel()
    withExtendedLifetime(token) {}
  }

  @Test func gettersReturnTheirTypeOnly() throws {
    let store = NSUbiquitousKeyValueStore(preferences: try PreferencesMachine().preferences())
    store.set(Int64.max, forKey: "number")
    store.set("12", forKey: "text")
    store.set(true, forKey: "truth")
    #expect(store.longLong(forKey: "number") == .max && store.bool(forKey: "truth"))
    #expect(store.longLong(forKey: "truth") == 1 && store.double(forKey: "number") > 9e18)
    #expect(store.string(forKey: "number") == nil && store.longLong(forKey: "text") == 0)
    #expect(store.double(forKey: "none") == 0 && store.data(forKey: "text") == nil)
    #expect(store.object(forKey: "number") as? NSNumber == NSNumber(value: Int64.max))
    #expect(store.object(forKey: "number") as? Int == .max)
    // As preferences, numbers and text convert.
    #expect(store.integer(forKey: "text") == 12)
    store.set(NSObject(), forKey: "object")
    #expect(store.lastPreferencesError?.code == .unstorable)
    #expect(store.object(forKey: "object") == nil)
  }

  @Test func sentinelsOfPrephirencesObserveIt() throws {
    let store = NSUbiquitousKeyValueStore(preferences: try PreferencesMachine().preferences())
    let seen = Deliveries<Int?>()
    let observation = store.observe(forKey: "a") { seen.append($0.newValue as? Int) }
    store.set(1, forKey: "a")
    store.set(dictionary: ["a": 2, "b": 3])
    store.clearAll()
    #expect(seen.all == [1, 2, nil])
    observation.cancel()
  }
}
