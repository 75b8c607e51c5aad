internal import Foundation
internal import Prephirences
internal import Testing
internal import TypedDefaults

/// What holds for each kind of store.
@Suite("Stores")
struct StoreTests {
  enum Kind: CaseIterable { case memory, preferences, userDefaults, any }

  private func store<D: DefaultConvertible>(_ kind: Kind) -> any DefaultStoreType<D> {
    let memory = MutableDictionaryPreferences(dictionary: [:])
    return switch kind {
    case .memory: InMemoryStore<D>()
    case .preferences: PersistentStore<D>(preferences: memory)
    case .userDefaults: PersistentStore<D>(preferences: BackedUserDefaults(preferences: memory))
    case .any: AnyStore(InMemoryStore<D>())
    }
  }

  @Test(arguments: Kind.allCases)
  func valueIsSetAndRemoved(_ kind: Kind) throws {
    let store: any DefaultStoreType<CameraConfig> = store(kind)
    #expect(store.get() == nil)
    #expect(try store.load() == nil)
    var config = try #require(CameraConfig([:]))
    store.set(config)
    #expect(store.get() == config)
    config.size = .large
    config.saveToCameraRoll = false
    try store.save(config)
    #expect(try store.load() == config)
    store.remove()
    #expect(store.get() == nil)
    #expect(store.lastError == nil)
  }

  @Test(arguments: Kind.allCases)
  func codableNeedsNoSerialize(_ kind: Kind) {
    let store: any DefaultStoreType<Settings> = store(kind)
    let settings = Settings(port: 1)
    store.set(settings)
    #expect(store.get() == settings)
    let launches: any DefaultStoreType<Launches> = self.store(kind)
    launches.set(Launches(count: 3))
    #expect(launches.get() == Launches(count: 3))
  }

  @Test(arguments: Kind.allCases)
  func unstorableValueIsReported(_ kind: Kind) throws {
    let store: any DefaultStoreType<Unstorable> = store(kind)
    store.set(Unstorable())
    #expect(store.lastError?.code == .unstorable)
    #expect(store.lastError?.message.contains("'CameraConfig'") == true)
    #expect(store.get() == nil)
    #expect(store.lastError == nil)
    #expect(throws: PreferencesError.self) { try store.save(Unstorable()) }
  }

  @Test func partOfATextIsStoredAsText() throws {
    let defaults = try #require(UserDefaults(suiteName: "stores-\(UUID().uuidString)"))
    defer { defaults.clearAll() }
    let stores: [any DefaultStoreType<Host>] = [
      InMemoryStore<Host>(), PersistentStore<Host>(preferences: defaults),
    ]
    for store in stores {
      store.set(Host(name: "a.b"))
      #expect(store.lastError == nil && store.get() == Host(name: "a.b"))
    }
  }

  @Test(arguments: Kind.allCases)
  func encodingFailureIsReported(_ kind: Kind) {
    let store: any DefaultStoreType<Unencodable> = store(kind)
    store.set(Unencodable())
    #expect(store.lastError?.code == .unstorable)
    #expect(store.get() == nil)
  }

  @Test func refusedValueKeepsTheOldOne() throws {
    let memory = MutableDictionaryPreferences(dictionary: ["CameraConfig": ["size": 2]])
    PersistentStore<Unstorable>(preferences: memory).set(Unstorable())
    #expect(PersistentStore<CameraConfig>(preferences: memory).get()?.size == .small)
  }

  @Test func mistypedValueIsReported() {
    let memory = MutableDictionaryPreferences(dictionary: ["CameraConfig": "text"])
    let store = PersistentStore<CameraConfig>(preferences: memory)
    #expect(store.get() == nil)
    #expect(store.lastError?.code == .typeMismatch)
    #expect(throws: PreferencesError.self) { try store.load() }
  }

  @Test func jsonDataIsRead() throws {
    let data = try JSONEncoder().encode(Settings(port: 3))
    let memory = MutableDictionaryPreferences(dictionary: ["settings": data])
    #expect(PersistentStore<Settings>(preferences: memory).get()?.port == 3)
  }

  @Test func codableIsStoredAsPropertyList() {
    let memory = MutableDictionaryPreferences(dictionary: [:])
    PersistentStore<Settings>(preferences: memory).set(Settings(port: 3))
    #expect(memory.dictionary(forKey: "settings")?["port"] as? Int == 3)
    #expect(memory.dictionary(forKey: "settings")?["date"] is Date)
  }

  @Test func storesOfOnePreferencesShareTheValue() {
    let memory = MutableDictionaryPreferences(dictionary: [:])
    let one = PersistentStore<Launches>(preferences: memory)
    let other = PersistentStore<Launches>(preferences: memory)
    one.set(Launches(count: 1))
    #expect(other.get()?.count == 1)
  }

  @Test func inMemoryStoreWorksOnManyThreads() async {
    let store = InMemoryStore<Launches>()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for count in 0..<100 {
            store.set(Launches(count: count))
            _ = store.get()
          }
        }
      }
    }
    #expect(store.get() == Launches(count: 99))
  }
}
