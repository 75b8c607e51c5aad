internal import Foundation
internal import Prephirences
internal import PrephirencesDurable
internal import PrephirencesShared
internal import PrephirencesSystem

/// Uses every store from eight threads under the thread sanitizer.
///
/// It also checks what it reads, but the purpose is a run without a report of the sanitizer.
@main
struct PreferencesStress {
  static let rounds = 60

  static func main() throws {
    let folder = NSTemporaryDirectory() + "prephirences-stress-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, store) in try mutableStores(folder) { use(store, name) }
    for (name, store) in readOnlyStores() { read(store, name) }
    buffers()
    registry()
    onePreference()
    facades(folder)
    // They are in the home folder of the user who runs this.
    UserDefaults.standard.clearAll()
    print("no thread was in the way of another")
  }

  private static func mutableStores(
    _ folder: String
  ) throws -> [(String, any MutablePreferencesType & Sendable)] {
    let plist = try Plist(openingFile: folder + "/a.plist")
    let immediate = try Plist(openingFile: folder + "/b.plist", format: .binary)
    immediate.writeImmediately = true
    let first = MutableDictionaryPreferences()
    let all: [any PreferencesType] = [first, DictionaryPreferences(["a": 1]), plist]
    return [
      ("dictionary", MutableDictionaryPreferences()), ("plist", plist), ("written", immediate),
      ("buffer", BufferPreferences(MutableDictionaryPreferences())),
      ("cache", NSCachePreferences<NSNumber>()),
      ("composite", MutableCompositePreferences(all)),
      ("all", MutableCompositePreferences(all, affectOnlyFirstMutable: false)),
      ("proxy", MutableProxyPreferences(preferences: first, key: "prefix.")),
      ("key-value coding", MutableKVCPreferences(Properties(), [\.k0, \.k1, \.k2, \.k3])),
      ("user defaults", SendableDefaults(UserDefaults.standard)),
      (
        "backed user defaults",
        SendableDefaults(BackedUserDefaults(preferences: MutableDictionaryPreferences()))
      ),
      ("durable", DurablePreferences(suiteName: "stress", folder: folder)),
      ("shared", shared("shared", folder)),
      ("ubiquitous", NSUbiquitousKeyValueStore(preferences: shared("ubiquitous", folder))),
    ]
  }

  private static func shared(_ suiteName: String, _ folder: String) -> SharedPreferences {
    SharedPreferences(
      suiteName: suiteName, folder: folder, environment: .process, conflicts: nil)
  }

  private static func readOnlyStores() -> [(String, any PreferencesType & Sendable)] {
    [
      ("dictionary", DictionaryPreferences(["k0": 1])),
      ("environment", EnvironmentPreferences()),
      ("arguments", ArgumentPreferences(["--k0=1"])),
      ("reflection", Reflected()),
      ("object", KVCPreferences(Properties())),
      (
        "collection",
        CollectionPreferencesAdapter(
          collection: [1, 2], mapKey: { "k\($0)" }, mapValue: { $0 })
      ),
      ("composite", CompositePreferences([DictionaryPreferences(["k0": 1]), Reflected()])),
      ("proxy", ProxyPreferences(preferences: DictionaryPreferences(["k0": 1]), key: "k")),
      ("bundle", SendableBundle()),
    ]
  }

  /// Sets, reads and removes a few keys, the same on all threads.
  private static func use(_ store: any MutablePreferencesType & Sendable, _ name: String) {
    let observation = store.observeAll { _ in }
    onThreads(8) { thread in
      for round in 0..<rounds {
        let key = "k\((thread + round) % 4)"
        store[key] = round
        let value = store[key]
        check(value == nil || value as? Int != nil || value is NSNumber, name)
        store.set(thread, forKey: key)
        _ = store.integer(forKey: key)
        store.set(dictionary: ["k0": 1, "k1": 2])
        _ = (store.string(forKey: key), store.bool(forKey: key), store.dictionary().count)
        if round % 10 == 0 {
          store.removeObject(forKey: key)
          let inner = store.observe(forKey: key, initial: true) { _ in }
          store[key] = nil
          inner.cancel()
        }
        if round % 25 == 0 { store.clearAll() }
        if let plist = store as? Plist, round % 20 == 0 {
          check(plist.write() && plist.read(), name)
        }
      }
    }
    observation.cancel()
  }

  private static func read(_ store: any PreferencesType & Sendable, _ name: String) {
    onThreads(8) { _ in
      for _ in 0..<rounds {
        _ = (store["k0"], store.dictionary().count, store.integer(forKey: "k0"))
      }
    }
  }

  private static func buffers() {
    let target = MutableDictionaryPreferences()
    let buffer = BufferPreferences(target)
    onThreads(8) { thread in
      for round in 0..<rounds {
        buffer["k\(thread)"] = round
        if thread == 0 { buffer.commit() }
      }
    }
    buffer.commit()
    for thread in 0..<8 { check(target["k\(thread)"] as? Int == rounds - 1, "buffer") }
  }

  private static func registry() {
    onThreads(8) { thread in
      for round in 0..<rounds {
        Prephirences.registerInstance(DictionaryPreferences(["a": round]), forKey: "k\(thread % 3)")
        _ = Prephirences.instance(forKey: "k\(round % 3)")
        Prephirences.sharedInstance = MutableDictionaryPreferences()
        Prephirences.sharedMutableInstance?["a"] = 1
        _ = (Prephirences.jsonDecoder, Prephirences.jsonEncoder, UserDefaultsKeySeparator)
        if round % 10 == 0 { _ = Prephirences.unregisterInstance(forKey: "k\(thread % 3)") }
      }
    }
  }

  private static func onePreference() {
    let store = MutableDictionaryPreferences()
    let preference: MutablePreference<Int> = store.preference(forKey: "count")
    onThreads(8) { _ in
      for round in 0..<rounds {
        preference.value = round
        _ = (preference.value, preference.hasValue)
        preference.transformation = TransformationKey.none
      }
    }
  }

  static func check(_ condition: Bool, _ name: String) {
    guard !condition else { return }
    FileHandle.standardError.write(Data("\(name): a wrong value was read\n".utf8))
    exit(1)
  }
}
