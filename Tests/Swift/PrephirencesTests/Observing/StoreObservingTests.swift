import Foundation
import Prephirences
import Testing

@Suite("Observing each store")
struct StoreObservingTests {
  private let recorder = ChangeRecorder()

  @Test func dictionary() {
    let store: MutableDictionaryPreferences = ["a": 1, "b": 1]
    let observation = store.observeAll(recorder.record)
    store["a"] = 2
    store.set(true, forKey: "c")
    store.set(dictionary: ["a": 3, "b": 1, "d": 4])
    store.removeObject(forKey: "d")
    store.clearAll()
    #expect(
      recorder.texts == [
        "a: 1 -> 2", "c: nil -> true", "a: 2 -> 3", "d: nil -> 4", "d: 4 -> nil", "a: 3 -> nil",
        "b: 1 -> nil", "c: true -> nil",
      ])
    withExtendedLifetime(observation) {}
  }

  @Test func buffer() {
    let store: MutableDictionaryPreferences = ["a": 1]
    let buffer = BufferPreferences(store)
    let buffered = ChangeRecorder()
    let observations = [buffer.observeAll(buffered.record), store.observeAll(recorder.record)]
    buffer["a"] = 2
    buffer["b"] = 1
    #expect(buffered.texts == ["a: 1 -> 2", "b: nil -> 1"])
    #expect(recorder.texts == [])
    buffer.commit()
    #expect(recorder.texts == ["a: 1 -> 2", "b: nil -> 1"])
    buffer["a"] = 3
    buffer.rollback()
    #expect(buffered.texts.suffix(2) == ["a: 2 -> 3", "a: 3 -> 2"])
    withExtendedLifetime(observations) {}
  }

  @Test func observerOfABufferMayCommit() {
    let store = MutableDictionaryPreferences()
    let buffer = BufferPreferences(store)
    let observation = buffer.observeAll { _ in buffer.commit() }
    buffer["a"] = 1
    #expect(store.integer(forKey: "a") == 1)
    observation.cancel()
  }

  @Test func propertyList() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("a.plist").path
    let (one, other) = (try Plist(openingFile: path), try Plist(openingFile: path))
    one.writeImmediately = true
    // Reported changes are in the file, and the file may be read and written meanwhile.
    let observations = [
      one.observeAll { [recorder] change in
        recorder.record(change)
        #expect(other.read())
        #expect(one.write())
      }, other.observeAll(recorder.record),
    ]
    one["a"] = 1
    #expect(recorder.texts == ["a: nil -> 1", "a: nil -> 1"])
    one.removeObject(forKey: "a")
    #expect(recorder.texts.suffix(2) == ["a: 1 -> nil", "a: 1 -> nil"])
    withExtendedLifetime(observations) {}
  }

  @Test func composite() {
    let (first, second): (MutableDictionaryPreferences, MutableDictionaryPreferences) = (
      [:], ["a": "second"]
    )
    let composite: MutableCompositePreferences = [first, second]
    let all = ChangeRecorder()
    let observations = [
      composite.observe(forKey: "a", initial: true, recorder.record),
      composite.observeAll(all.record),
    ]
    composite["a"] = "first"
    second["a"] = "hidden"
    second["b"] = 1
    composite.removeObject(forKey: "a")
    second["a"] = "seen"
    #expect(
      recorder.texts == [
        "a = second", "a: second -> first", "a: first -> hidden", "a: hidden -> seen",
      ])
    #expect(
      all.texts == recorder.texts.dropFirst(1).prefix(1) + ["b: nil -> 1"]
        + recorder.texts.suffix(2))
    observations.forEach { $0.cancel() }
    second["a"] = "unseen"
    #expect(recorder.all.count == 4)
  }

  @Test func proxy() async {
    let store: MutableDictionaryPreferences = ["app.a": 1]
    let proxy = MutableProxyPreferences(preferences: store, key: "app", separator: ".")
    let one = ChangeRecorder()
    let observations = [
      proxy.observeAll(initial: true, recorder.record), proxy.observe(forKey: "b", one.record),
    ]
    proxy["b"] = 2
    store["app.b"] = 3
    store["b"] = 4
    store["application"] = 5
    #expect(recorder.texts == ["a = 1", "b: nil -> 2", "b: 2 -> 3"])
    #expect(one.texts == ["b: nil -> 2", "b: 2 -> 3"])
    withExtendedLifetime(observations) {}
  }

  @Test func viewsAreObservedAsLongAsTheirObservation() {
    let store = MutableDictionaryPreferences()
    let observation = CompositePreferences([
      ProxyPreferences(preferences: store, key: "app."), DictionaryPreferences(["a": 0]),
    ])
    .observe(forKey: "a", recorder.record)
    store["app.a"] = 1
    #expect(recorder.texts == ["a: 0 -> 1"])
    withExtendedLifetime(observation) {}
  }

  @Test func compositeOfManyThreadsEndsWithWhatRemains() {
    let stores = (0..<4).map { _ in MutableDictionaryPreferences() }
    let composite = CompositePreferences(stores)
    let observation = composite.observeAll(recorder.record)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      let store = stores[thread % 4]
      for number in 1...200 {
        store["a"] = number % 5 == 0 ? nil : number
      }
    }
    var last: PreferenceObject?
    for change in recorder.all {
      #expect(change.oldValue as? Int == last as? Int)
      last = change.newValue
    }
    #expect(last as? Int == composite["a"] as? Int)
    withExtendedLifetime(observation) {}
  }
}

@Suite("Observing stores of Foundation")
struct FoundationObservingTests {
  private let recorder = ChangeRecorder()

  /// Runs in a separate process: other setters of user defaults in the process make observers
  /// compare, and another thread may then deliver a change a little later.
  @Test func userDefaults() async {
    await #expect(processExitsWith: .success) { try Self.observeUserDefaults() }
  }

  private static func observeUserDefaults() throws {
    let recorder = ChangeRecorder()
    let name = "observing-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: name))
    let same = try #require(UserDefaults(suiteName: name))
    let preferences: any MutablePreferencesType = defaults
    preferences.set(1, forKey: "a")
    let all = ChangeRecorder()
    let observations = [
      defaults.observe(forKey: "a", initial: true, recorder.record),
      defaults.observeAll(all.record),
    ]
    preferences.set(2, forKey: "a")
    same["a"] = 3
    same.set(dictionary: ["a": 3, "b": ["x": 1]])
    let preference: MutablePreference<Int> = defaults <| "a"
    preference.value = 4
    defaults.removePersistentDomain(forName: name)
    preference.value = 5
    same.clearAll()
    // Equal to the cleared value.
    preference.value = 5
    #expect(
      recorder.texts == [
        "a = 1", "a: 1 -> 2", "a: 2 -> 3", "a: 3 -> 4", "a: 4 -> nil", "a: nil -> 5",
        "a: 5 -> nil", "a: nil -> 5",
      ])
    #expect(all.all.filter { $0.key == "b" }.count == 2)
    #expect(all.texts.filter { $0.hasPrefix("a") } == Array(recorder.texts.dropFirst()))
    withExtendedLifetime(observations) {}
    removeFile(ofSuite: name)
  }

  @Test func cache() {
    let store = NSCachePreferences<NSString>()
    let observation = store.observeAll(recorder.record)
    store["a"] = "1" as NSString
    store["a"] = "1" as NSString
    store["a"] = "2" as NSString
    store["b"] = "3" as NSString
    store.removeObject(forKey: "b")
    store.clearAll()
    #expect(
      recorder.texts == ["a: nil -> 1", "a: 1 -> 2", "b: nil -> 3", "b: 3 -> nil", "a: 2 -> nil"])
    withExtendedLifetime(observation) {}
  }

  @Test func objectOfKeyPaths() {
    final class Person {
      var age = 33
      var name: String?
    }
    let person = Person()
    let preferences = MutableKVCPreferences(person, [\.age, \.name])
    let observation = KVCPreferences(person, [\.age, \.name])
      .observeAll(initial: true, recorder.record)
    preferences["age"] = 34
    preferences["age"] = "no number"
    preferences["name"] = "A"
    preferences.clearAll()
    MutableKVCPreferences(Person(), [\.age])["age"] = 1
    #expect(
      recorder.texts == ["age = 33", "age: 33 -> 34", "name: nil -> A", "name: A -> nil"])
    withExtendedLifetime(observation) {}
  }

  private static func removeFile(ofSuite name: String) {
    let environment = ProcessInfo.processInfo.environment
    let folder = environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
    try? FileManager.default.removeItem(atPath: "\(folder)/\(name).plist")
  }
}
