internal import Foundation
internal import Prephirences
internal import Synchronization
internal import Testing

@Suite("Notifications of backed user defaults") struct BackedNotificationTests {
  private final class Count: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func increase() { count.withLock { $0 += 1 } }
  }

  private let store = MutableDictionaryPreferences()
  private let defaults: BackedUserDefaults

  init() { defaults = BackedUserDefaults(preferences: store) }

  private func notifications(of object: Any?, _ body: () -> Void) -> Int {
    let count = Count()
    let observer = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: object, queue: nil
    ) { _ in count.increase() }
    defer { NotificationCenter.default.removeObserver(observer) }
    body()
    return count.value
  }

  @Test func eachChangeIsPostedOnce() {
    #expect(notifications(of: defaults) { defaults.set(1, forKey: "k") } == 1)
    #expect(notifications(of: defaults) { defaults["k"] = 2 } == 1)
    #expect(notifications(of: defaults) { defaults.k = 3 } == 1)
    #expect(notifications(of: defaults) { defaults.removeObject(forKey: "k") } == 1)
    #expect(notifications(of: defaults) { defaults.set(dictionary: ["a": 1, "b": 2]) } == 1)
    #expect(notifications(of: defaults) { defaults.clearAll() } == 1)
  }

  @Test func changesOfThePreferencesArePosted() {
    _ = defaults.object(forKey: "k")
    #expect(notifications(of: defaults) { store["k"] = 1 } == 1)
    #expect(notifications(of: defaults) { store["k"] = 1 } == 0)
    let sibling = BackedUserDefaults(preferences: store)
    #expect(notifications(of: defaults) { sibling.set(2, forKey: "k") } == 1)
  }

  @Test func refusedValuesAreNotPosted() {
    #expect(notifications(of: defaults) { defaults.set(NSObject(), forKey: "k") } == 0)
  }

  @Test func observersSeeVisibleValues() {
    let key = "backed.\(UUID())"
    defaults.register(defaults: [key: "registered"])
    let seen = Mutex<[String]>([])
    let observation = defaults.observe(forKey: key, initial: true) { change in
      seen.withLock { $0.append(change.newValue as? String ?? "none") }
    }
    defaults.set("a", forKey: key)
    store[key] = "b"
    defaults.setPreference("c", forKey: key)
    defaults.removeObject(forKey: key)
    observation.cancel()
    defaults.set("d", forKey: key)
    #expect(seen.withLock { $0 } == ["registered", "a", "b", "c", "registered"])
  }

  @Test func argumentsHideChanges() {
    defaults.setVolatileDomain(["k": "argument"], forName: UserDefaults.argumentDomain)
    let seen = Mutex(0)
    let observation = defaults.observe(forKey: "k") { _ in seen.withLock { $0 += 1 } }
    defaults.set("a", forKey: "k")
    #expect(seen.withLock { $0 } == 0)
    observation.cancel()
  }

  @Test func handlersMayReadAndWrite() {
    let reference = defaults
    let observation = defaults.observe(forKey: "k") { [store] change in
      if change.newValue as? Int == 1 { store["k"] = 2 }
    }
    reference.set(1, forKey: "k")
    #expect(reference.integer(forKey: "k") == 2)
    observation.cancel()
  }

  @Test func anObserverDoesNotKeepTheObject() {
    weak var reference: BackedUserDefaults?
    do {
      let short = BackedUserDefaults(preferences: store)
      short.set(1, forKey: "k")
      reference = short
    }
    #expect(reference == nil)
    store["k"] = 2
  }
}
