// swift-format-ignore-file
// The declarations stand as the document writes them.
import Foundation
import Prephirences
import Testing

struct MyCustomPreferences {
  private let values = ["first": 1, "second": 2]
}

extension MyCustomPreferences: PreferencesType {
  func object(forKey: String) -> Any? {
    // return an object according to key
    values[forKey]
  }
  func dictionary() -> [String : Any] {
    // return a full dictionary of key value
    values
  }
}

final class MyMutablePreferences: MutablePreferencesType {
  private var values: [String: Any] = [:]

  func object(forKey: String) -> Any? { values[forKey] }
  func dictionary() -> [String: Any] { values }
  func set(_ value: Any?, forKey: String) { values[forKey] = value }
  func removeObject(forKey: String) { values[forKey] = nil }
}

struct MyKeyedPreferences: PreferencesAdapter {
  func keys() -> [String] { ["a", "b"] }
  func object(forKey key: String) -> Any? { key == "c" ? nil : key + key }
}

enum MyEnum: String {
  case MyFirstKey
  case MySecondKey
}

extension PreferencesType {
  subscript(key: MyEnum) -> Any? {
    return self[key.rawValue]
  }
}

extension MutablePreferencesType {
  subscript(key: MyEnum) -> Any? {
    get { return self[key.rawValue] }
    set { self[key.rawValue] = newValue }
  }
}

@Suite("Custom implementations")
struct CustomTests {
  @Test func preferences() {
    let preferences = MyCustomPreferences()
    #expect(preferences["first"] as? Int == 1)
    #expect(preferences.integer(forKey: "second") == 2)
    #expect(preferences.double(forKey: "second") == 2)
    #expect(preferences.hasObject(forKey: "first"))
    #expect(preferences["third"] == nil)
  }

  @Test func mutablePreferences() {
    var preferences = MyMutablePreferences()
    preferences["first"] = 1
    preferences.set(2.5, forKey: "second")
    preferences += ["third": "3"]
    #expect(preferences.dictionary().count == 3)
    preferences.clearAll()
    #expect(preferences.dictionary().isEmpty)
  }

  @Test func adapter() {
    #expect(MyKeyedPreferences().dictionary() as? [String: String] == ["a": "aa", "b": "bb"])
  }

  @Test func collection() {
    let headers = [("Accept", "text/html"), ("Host", "example.com"), ("Accept", "text/plain")]
    let preferences = CollectionPreferencesAdapter(
      collection: headers, mapKey: { $0.0 }, mapValue: { $0.1 })
    #expect(preferences["Accept"] as? String == "text/plain")
    #expect(preferences["Host"] as? String == "example.com")
    #expect(preferences["Cookie"] == nil)
  }

  @Test func customKey() throws {
    let folder = try TemporaryFolder()
    try PropertyListEncoder().encode(["MyFirstKey": "first"])
      .write(to: URL(fileURLWithPath: folder.path("Info.plist")))
    let bundle = try #require(Bundle(path: folder.url.path))
    var found: Any?

    if let firstValue = bundle[.MyFirstKey] { found = firstValue }

    #expect(found as? String == "first")
    var mutable = MutableDictionaryPreferences()
    mutable[.MySecondKey] = 2
    #expect(mutable["MySecondKey"] as? Int == 2)
  }
}
