import Foundation
import PrephirencesShared
import Testing

@Suite("The store of iCloud's name, as a client uses it")
struct UbiquitousTests {
  @Test func eachSetterStoresWhatItsGetterReturns() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        let store = NSUbiquitousKeyValueStore.default
        setEverything(store)
        try #require(store.lastPreferencesError == nil)
        let read = readEverything(store)
        try #require(read["longLong"] as? Int64 == .max && read["double"] as? Double == 1.5)
        try #require(read["truth"] as? Bool == true && read["text"] as? String == "text")
        try #require(read["numbers"] as? [Int] == [1, 2])
        try #require(read["dictionary"] as? [String: Int] == ["a": 1])
        try #require(read["data"] as? Data == Data([1]))
        try #require(read["date"] as? Date == Date(timeIntervalSinceReferenceDate: 1))
        try #require(read["count"] as? Int == 19)
        try #require(store.object(forKey: "literal") as? Int == 1)
        try #require(store.object(forKey: "literal") as? NSNumber == 1)
        try #require(store.object(forKey: "truth") as? Bool == true)
        try #require(store.array(forKey: "empty")?.isEmpty == true)
        try #require(store.dictionary(forKey: "none")?.isEmpty == true)
        try #require(NSUbiquitousKeyValueStore.default === store)
        try #require(NSUbiquitousKeyValueStore().longLong(forKey: "integer") == 5)
      }
    }
  }

  @Test func storeIsPreferences() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        let store = NSUbiquitousKeyValueStore.default
        try #require(usePreferences(store) == 93)
        try #require(store.theme as? String == "dark")
        let (center, observation) = observe(store)
        NotificationCenter.default.removeObserver(center)
        observation.cancel()
        let recording = RecordingStore()
        recording.set("a", forKey: "b")
        try #require(store.string(forKey: "recorded.b") == "a")
        store.clearAll()
        try #require(store.dictionaryRepresentation.isEmpty && store.synchronize())
      }
    }
  }

  @Test func unconfiguredPreferencesAreLocal() async {
    await #expect(processExitsWith: .success) {
      try await inOwnHome {
        try #require(await useShared(FleetSettings.settings) == 63)
        try #require(DurablePreferences(suiteName: "com.example.fleet")["two"] as? Int == 2)
      }
    }
  }
}

// A program in Swift 6 mode that uses the store of iCloud's name, compiled like a client's: with one
// import for it, and without access to `package` declarations.

/// Sets a value by every overload, and by literals.
func setEverything(_ store: NSUbiquitousKeyValueStore) {
  store.set(1, forKey: "literal")
  store.set(true, forKey: "truth")
  store.set(1.5, forKey: "double")
  store.set("text", forKey: "text")
  store.set([], forKey: "empty")
  store.set([:], forKey: "none")
  store.set([1, 2], forKey: "numbers")
  store.set([1, "a"], forKey: "mixed")
  store.set(["a": 1], forKey: "dictionary")
  store.set(["a": 1, "b": "c"], forKey: "mixed dictionary")
  store.set(Data([1]), forKey: "data")
  store.set(Date(timeIntervalSinceReferenceDate: 1), forKey: "date")
  store.set(NSNumber(value: 7), forKey: "number")
  store.set(Int64.max, forKey: "longLong")
  store.set(UInt8(3), forKey: "byte")
  store.set(Float(0.5), forKey: "float")
  let integer = 5
  store.set(integer, forKey: "integer")
  let any: Any = 6
  store.set(any, forKey: "any")
  let text: String? = nil
  store.set(text, forKey: "absent")
  store.set(nil, forKey: "literal nil")
  store.set(URL(string: "https://example.org"), forKey: "url")
}

/// Reads by every getter.
func readEverything(_ store: NSUbiquitousKeyValueStore) -> [String: Any?] {
  [
    "longLong": store.longLong(forKey: "longLong"), "double": store.double(forKey: "double"),
    "truth": store.bool(forKey: "truth"), "text": store.string(forKey: "text"),
    "numbers": store.array(forKey: "numbers"), "dictionary": store.dictionary(forKey: "dictionary"),
    "data": store.data(forKey: "data"), "date": store.object(forKey: "date"),
    "count": store.dictionaryRepresentation.count,
  ]
}

/// Uses the store as preferences of Prephirences.
func usePreferences(_ store: NSUbiquitousKeyValueStore) throws -> Int {
  store["subscript"] = 8
  store.theme = "dark"
  try store.storeObject(9, forKey: "stored")
  let preferences: any MutablePreferencesType = store
  preferences.set(1, forKey: "one")
  preferences["two"] = 2
  let proxy = MutableProxyPreferences(preferences: store, key: "reader.")
  proxy["page"] = 10
  let port: MutablePreference<Int> = store.preference(forKey: "port")
  port.value = 80
  let first: MutableCompositePreferences = [store, DictionaryPreferences(["three": 3])]
  return first.integer(forKey: "three") + store.integer(forKey: "port")
    + (store.object(forKey: "reader.page") as? Int ?? 0)
}

/// Observes in both ways.
func observe(_ store: NSUbiquitousKeyValueStore) -> (any NSObjectProtocol, PreferenceObservation) {
  let center = NotificationCenter.default.addObserver(
    forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: .main
  ) { notification in
    let reason = notification.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? NSNumber
    print(
      reason?.intValue == NSUbiquitousKeyValueStoreServerChange, store.lastPreferencesError as Any)
  }
  return (center, store.observe(forKey: "theme") { print($0.newValue as? String ?? "light") })
}

/// A subclass, as some programs have for tests.
final class RecordingStore: NSUbiquitousKeyValueStore, @unchecked Sendable {
  override func set(_ anObject: Any?, forKey aKey: String) {
    super.set(anObject, forKey: "recorded." + aKey)
  }
}

/// Shared preferences by typed keys, with a closure for conflicts.
enum FleetSettings {
  static let interval = SharedPreferences.Key<Int>("interval", default: 60)
  static let hosts = SharedPreferences.Key<[String]>("hosts", default: [])
  static let settings = SharedPreferences(suiteName: "com.example.fleet") { conflict in
    for value in conflict.values where value.key == "hosts" {
      let hosts = Set(value.local?.object as? [String] ?? [])
        .union(value.shared?.object as? [String] ?? [])
      return .set([("hosts", .array(hosts.sorted().map { .string($0) }))])
    }
    return .takeShared
  }
}

/// Uses shared preferences.
func useShared(_ settings: SharedPreferences) async throws -> Int {
  settings[FleetSettings.interval] += 1
  settings[FleetSettings.hosts].append("a")
  try settings.transaction { transaction in
    try transaction.set(1, forKey: "one")
    try transaction.set(2, forKey: "two")
  }
  let observation = settings.observeExternalChanges { change in
    for lost in change.lostValues { print(lost.key, lost.localValue as Any) }
    print(change.reason, change.keys)
  }
  observation.cancel()
  let task = Task { for await change in settings.externalChanges() { print(change.keys) } }
  task.cancel()
  try await settings.flush(deadline: .seconds(1))
  return settings[FleetSettings.interval] + settings.integer(forKey: "two")
}

/// Shares a suite from a program.
func share() throws {
  var configuration = SharingConfiguration(address: "etcd+https://a.example:2379/fleet")
  configuration.user = "reader"
  configuration.machine = "web 1"
  configuration.passwordReference = "keychain://etcd/fleet"
  try SharedPreferences.share(suiteName: "com.example.fleet", with: configuration)
  SharedPreferences.readReferences { Array("secret of \($0)".utf8) }
  let status = try FleetSettings.settings.status()
  print(status.unsentKeys, status.failure as Any, status.waiting.map(\.reason))
  try SharedPreferences.stopSharing(suiteName: "com.example.fleet")
}
