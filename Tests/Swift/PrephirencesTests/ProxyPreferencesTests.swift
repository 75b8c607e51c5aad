internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Preferences below a prefix")
struct ProxyPreferencesTests {
  private let store: MutableDictionaryPreferences = [
    "app.a": 1, "app.b": "2", "other": 3, "application": 4, "app.": 5,
  ]

  @Test func keysAreReadWithThePrefix() {
    let proxy = ProxyPreferences(preferences: store, key: "app.")
    #expect(proxy["a"] as? Int == 1 && proxy.a as? Int == 1 && proxy["other"] == nil)
    #expect(proxy.hasObject(forKey: "a") && !proxy.hasObject(forKey: "other"))
    #expect(proxy.integer(forKey: "b") == 2 && proxy.string(forKey: "b") == "2")
    #expect(proxy.dictionary().keys.sorted() == ["", "a", "b"])
    #expect(ProxyPreferences(preferences: store).dictionary().count == 5)
    store["app.a"] = 7
    #expect(proxy["a"] as? Int == 7)
  }

  @Test func changesStayBelowThePrefix() {
    let proxy = MutableProxyPreferences(preferences: store, key: "app.")
    proxy["new"] = 1
    proxy.set(dictionary: ["a": 10, "x": 11])
    proxy.removeObject(forKey: "b")
    proxy.c = 12
    #expect(
      store.dictionary() as? [String: Int] == [
        "app.new": 1, "app.a": 10, "app.x": 11, "app.c": 12, "other": 3, "application": 4,
        "app.": 5,
      ])
    proxy["a"] = nil
    proxy.clearAll()
    #expect(store.dictionary() as? [String: Int] == ["other": 3, "application": 4])
    MutableProxyPreferences(preferences: store).clearAll()
    #expect(store.dictionary().isEmpty)
  }

  @Test func typedAccessIsThatOfTheOtherPreferences() {
    let proxy = MutableProxyPreferences(preferences: store, key: "t", separator: "/")
    proxy.set(1, forKey: "int")
    proxy.set(Float(1.5), forKey: "float")
    proxy.set(2.5, forKey: "double")
    proxy.set(true, forKey: "bool")
    proxy.set(URL(string: "https://swift.org"), forKey: "url")
    proxy.set(objectToArchive: ["a"], forKey: "archive")
    proxy["strings"] = ["a"]
    proxy["dictionary"] = ["a": 1]
    #expect(store["t/float"] is Float && store["t/bool"] is Bool && store["t/url"] is URL)
    #expect(proxy.integer(forKey: "int") == 1 && proxy.float(forKey: "float") == 1.5)
    #expect(proxy.double(forKey: "double") == 2.5 && proxy.bool(forKey: "bool"))
    #expect(proxy.url(forKey: "url")?.host == "swift.org" && proxy.data(forKey: "archive") != nil)
    #expect(proxy.unarchiveObject(forKey: "archive") as? [String] == ["a"])
    #expect(proxy.stringArray(forKey: "strings") == ["a"])
    #expect(proxy.array(forKey: "strings")?.count == 1)
    #expect(proxy.dictionary(forKey: "dictionary")?.count == 1)
    proxy.set(nil as URL?, forKey: "url")
    proxy.set(objectToArchive: nil, forKey: "archive")
    proxy.set(Int?.none as Any, forKey: "int")
    #expect(!store.hasObject(forKey: "t/url") && !store.hasObject(forKey: "t/archive"))
    #expect(!store.hasObject(forKey: "t/int"))
  }

  @Test func keysThatJoinThePrefixAreBelowIt() {
    let proxy = MutableProxyPreferences(preferences: store, key: "e")
    proxy["\u{301}x"] = 1
    #expect(proxy.dictionary().map { Array($0.key.utf8) } == [Array("\u{301}x".utf8)])
    proxy.clearAll()
    #expect(!store.hasObject(forKey: "e\u{301}x") && store.hasObject(forKey: "other"))
  }

  @Test func aSeparatorMakesCategories() throws {
    let root = MutableProxyPreferences(preferences: store, key: "app", separator: ".")
    root["server.port"] = 80
    #expect(root["a"] as? Int == 1 && root["absent"] == nil && root.absent == nil)
    let server = try #require(root.server as? MutableProxyPreferences)
    #expect(root.object(forKey: "server") == nil && !root.hasObject(forKey: "server"))
    #expect(server["port"] as? Int == 80 && server["absent"] == nil)
    server["host"] = "localhost"
    #expect(store["app.server.host"] as? String == "localhost")
    server.clearAll()
    #expect(root["server"] == nil)
    let reading = ProxyPreferences(preferences: store, key: "app", separator: ".")
    store["app.x.y"] = 1
    #expect(reading["x"] is ProxyPreferences && !(reading["x"] is any MutablePreferencesType))
  }

  @Test func anImmutableProxyCannotBeChanged() {
    let proxy = store.immutableProxy()
    #expect(!(proxy is any MutablePreferencesType) && proxy["other"] as? Int == 3)
    store["other"] = 4
    #expect(proxy["other"] as? Int == 4)
  }

  @Test func onlyKeysAreListedWhereReadingCosts() {
    final class Counting: PreferencesAdapter, MutablePreferencesType {
      private(set) var reads = 0
      private(set) var removed: [String] = []
      func keys() -> [String] { ["a.x", "b.y", "b.z"] }
      func object(forKey key: PreferenceKey) -> PreferenceObject? {
        reads += 1
        return key
      }
      func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {}
      func removeObject(forKey key: PreferenceKey) { removed.append(key) }
    }
    let counting = Counting()
    let proxy = MutableProxyPreferences(preferences: counting, key: "a.")
    #expect(proxy.dictionary() as? [String: String] == ["x": "a.x"] && counting.reads == 1)
    proxy.clearAll()
    #expect(counting.removed == ["a.x"] && counting.reads == 1)
  }
}
