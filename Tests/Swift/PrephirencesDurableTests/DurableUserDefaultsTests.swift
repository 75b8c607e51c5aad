internal import Foundation
internal import Prephirences
internal import PrephirencesDurable
internal import Synchronization
internal import Testing

@Suite("Durable user defaults") struct DurableUserDefaultsTests {
  private final class Folder {
    let path = NSTemporaryDirectory() + "durable-defaults-\(UUID())"

    init() throws {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private let durable: DurablePreferences
  private let defaults: DurableUserDefaults
  // Destroyed last: a watch would open files again while the folder is being removed.
  private let folder: Folder

  init() throws {
    folder = try Folder()
    durable = DurablePreferences(suiteName: "test", folder: folder.path)
    defaults = DurableUserDefaults(durable)
  }

  private func notifications(_ body: () throws -> Void) rethrows -> Int {
    let count = Mutex(0)
    let observer = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
    ) { _ in count.withLock { $0 += 1 } }
    defer { NotificationCenter.default.removeObserver(observer) }
    try body()
    return count.withLock { $0 }
  }

  @Test func settersOfFoundationAreDurable() {
    let url = URL(string: "c?d#e", relativeTo: URL(string: "https://example.org/a/b"))
    let date = Date(timeIntervalSinceReferenceDate: 785_000_000.123456)
    defaults.set(Int.max, forKey: "integer")
    defaults.set(Float(0.1), forKey: "float")
    defaults.set(0.1, forKey: "double")
    defaults.set(true, forKey: "truth")
    defaults.set(url, forKey: "url")
    defaults.set(date, forKey: "date")
    defaults.set(UInt64.max as Any, forKey: "largest")
    defaults.set("text".dropFirst(), forKey: "part")
    defaults.set(["a": [1, 2.5, Data([1]), date]] as [String: Any], forKey: "nested")
    #expect(durable["integer"] as? Int == .max)
    #expect(defaults.integer(forKey: "integer") == .max)
    #expect(defaults.object(forKey: "float") as? Float == 0.1)
    #expect(defaults.double(forKey: "double") == 0.1)
    #expect(defaults.object(forKey: "truth") as? Bool == true)
    #expect(defaults.url(forKey: "url") == url)
    #expect(defaults.object(forKey: "date") as? Date == date)
    #expect(defaults.object(forKey: "largest") as? UInt64 == .max)
    #expect(defaults.string(forKey: "part") == "ext")
    let nested = defaults.dictionary(forKey: "nested")?["a"] as? [Any]
    #expect(nested?.first as? UInt8 == 1)
    #expect(nested?.last as? Date == date)
    #expect(defaults.synchronize())
    #expect(defaults.lastPreferencesError == nil)
  }

  @Test func severalValuesAreOneChange() {
    _ = defaults.object(forKey: "a")
    let count = notifications { defaults.set(dictionary: ["a": 1, "b": 2, "c": 3]) }
    #expect(count == 1)
    #expect(durable.dictionary().count == 3)
    defaults.set(dictionary: ["a": 5, "d": NSObject()])
    #expect(defaults.lastPreferencesError?.code == .unstorable)
    #expect(defaults.integer(forKey: "a") == 1)
  }

  @Test func eachCommitIsPostedOnce() throws {
    #expect(notifications { defaults.set(1, forKey: "a") } == 1)
    #expect(notifications { defaults["a"] = 2 } == 1)
    #expect(notifications { durable["a"] = 3 } == 1)
    #expect(notifications { defaults.removeObject(forKey: "a") } == 1)
    let transaction = try notifications {
      try durable.transaction { _ in
        defaults.set(1, forKey: "a")
        defaults.set(2, forKey: "b")
      }
    }
    #expect(transaction == 1)
    #expect(notifications { defaults.set(NSObject(), forKey: "a") } == 0)
    #expect(notifications { _ = defaults.integer(forKey: "a") } == 0)
    #expect(notifications { defaults.clearAll() } == 1)
  }

  @Test func theDomainOfTheSuiteIsThePreferences() {
    durable["a"] = 1
    #expect(defaults.persistentDomain(forName: "test")?["a"] as? Int == 1)
    defaults.setPersistentDomain(["b": 2], forName: "test")
    #expect(durable["a"] == nil)
    #expect(durable["b"] as? Int == 2)
    defaults.removePersistentDomain(forName: "test")
    #expect(durable.dictionary().isEmpty)
    #expect(defaults.persistentDomain(forName: "test") == nil)
  }

  /// As Foundation does, whatever object is asked for.
  @Test func aChangeOfAnotherDomainIsPostedOnceByTheObjectThatWasAsked() {
    let other = DurablePreferences(suiteName: "other", folder: folder.path)
    defaults.back(with: durable, domain: BackedDomain(name: "test") { _ in other })
    let thread = pthread_self()
    let posts = Mutex<[ObjectIdentifier?]>([])
    let observer = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: nil, queue: nil
    ) { post in
      // Other tests post on other threads.
      guard pthread_equal(pthread_self(), thread) != 0 else { return }
      posts.withLock { $0.append((post.object as? DurableUserDefaults).map(ObjectIdentifier.init)) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    defaults.setPersistentDomain(["a": 1, "b": "text".dropFirst()], forName: "other")
    #expect(other["a"] as? Int == 1 && other["b"] as? String == "ext")
    defaults.setPersistentDomain(["a": 1], forName: "other")
    #expect(defaults.persistentDomain(forName: "other")?.keys.sorted() == ["a"])
    defaults.removePersistentDomain(forName: "other")
    defaults.removePersistentDomain(forName: "other")
    #expect(defaults.persistentDomain(forName: "other") == nil && durable.dictionary().isEmpty)
    #expect(posts.withLock(\.self) == Array(repeating: ObjectIdentifier(defaults), count: 4))
    defaults.setPersistentDomain(["a": NSObject()], forName: "other")
    #expect(defaults.lastError?.code == .unstorable)
  }

  /// As Foundation does.
  @Test func aDomainWithoutAFileIsRemovedWithANotification() {
    #expect(notifications { defaults.removePersistentDomain(forName: "test") } == 1)
    #expect(durable.lastError == nil)
    durable["a"] = 1
    #expect(notifications { defaults.removePersistentDomain(forName: "test") } == 1)
    #expect(notifications { defaults.removePersistentDomain(forName: "test") } == 1)
    #expect(notifications { defaults.setPersistentDomain([:], forName: "test") } == 1)
  }

  @Test func registeredDefaultsComeLast() {
    let key = "durable.\(UUID())"
    defaults.register(defaults: [key: 1])
    #expect(defaults.integer(forKey: key) == 1)
    #expect(durable[key] == nil)
    defaults.set(2, forKey: key)
    #expect(defaults.dictionaryRepresentation()[key] as? Int == 2)
  }

  @Test func aNameOfNoSuiteIsReported() {
    let defaults = DurableUserDefaults(suiteName: "a/b")
    defaults?.set(1, forKey: "k")
    #expect(defaults?.lastPreferencesError?.code == .invalidName)
    #expect(defaults?.integer(forKey: "k") == 0)
    #expect(defaults?.synchronize() == false)
  }

  @Test func theStandardObjectIsOne() {
    #expect(DurableUserDefaults.standard === DurableUserDefaults.standard)
    #expect(
      (DurableUserDefaults.standard as? DurableUserDefaults)?.durable
        === DurablePreferences.standard)
    #expect(DurableUserDefaults(suiteName: nil)?.durable === DurablePreferences.standard)
  }

  @Test func observersSeeEachPath() {
    let seen = Mutex<[Int]>([])
    let observation = defaults.observe(forKey: "k") { change in
      seen.withLock { $0.append(change.newValue as? Int ?? 0) }
    }
    defaults.set(1, forKey: "k")
    durable["k"] = 2
    defaults.setPreference(3, forKey: "k")
    defaults.removeObject(forKey: "k")
    observation.cancel()
    #expect(seen.withLock { $0 } == [1, 2, 3, 0])
  }
}
