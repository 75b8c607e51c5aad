internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Keys")
struct KeyTests {
  enum Key: PreferenceKey { case text, number, url, data, array, dictionary, color, absent }
  enum Color: String { case red, blue }

  @Test func rawValues() {
    let preferences: any MutablePreferencesType = MutableDictionaryPreferences()
    preferences.set("1", rawRepresentableKey: Key.text)
    preferences.set(2, rawRepresentableKey: Key.number)
    preferences.set(URL(string: "https://swift.org"), rawRepresentableKey: Key.url)
    preferences.set(Data([1]), rawRepresentableKey: Key.data)
    preferences.set(["a"], rawRepresentableKey: Key.array)
    preferences.set(["a": 1], rawRepresentableKey: Key.dictionary)
    preferences.set(rawValue: Color.blue, rawRepresentableKey: Key.color)
    #expect(preferences.object(forKey: Key.text) as? String == "1")
    #expect(
      preferences.string(forKey: Key.text) == "1" && preferences.integer(forKey: Key.text) == 1)
    #expect(
      preferences.double(forKey: Key.number) == 2 && preferences.float(forKey: Key.number) == 2)
    #expect(preferences.bool(forKey: Key.number) && preferences.data(forKey: Key.data) == Data([1]))
    #expect(preferences.url(forKey: Key.url)?.host == "swift.org")
    #expect(preferences.array(forKey: Key.array)?.count == 1)
    #expect(preferences.stringArray(forKey: Key.array) == ["a"])
    #expect(preferences.dictionary(forKey: Key.dictionary)?.count == 1)
    #expect(preferences.rawRepresentable(forKey: Key.color) == Color.blue)
    #expect(preferences.hasObject(forKey: Key.text) && !preferences.hasObject(forKey: Key.absent))
    preferences.set(true, rawRepresentableKey: Key.number)
    preferences.set(1.5, rawRepresentableKey: Key.text)
    preferences.set(Float(1.5), rawRepresentableKey: Key.data)
    #expect(preferences["number"] as? Bool == true && preferences["text"] as? Double == 1.5)
    #expect(preferences["data"] as? Float == 1.5)
    preferences.set(nil, rawRepresentableKey: Key.url)
    preferences.set(rawValue: Color?.none, rawRepresentableKey: Key.color)
    preferences.removeObject(forKey: Key.text)
    #expect(preferences.dictionary().keys.sorted() == ["array", "data", "dictionary", "number"])
  }

  @Test func typedKeys() {
    let preferences = MutableDictionaryPreferences()
    func key<Value>(_ type: Value.Type) -> PreferenceSerializable<Value> {
      .init(rawValue: "\(type)")
    }

    preferences[key(String.self)] = "text"
    #expect(preferences["String"] as? String == "text" && preferences[key(String.self)] == "text")
    preferences[key(String?.self)] = "text"
    #expect(preferences[key(String?.self)] == "text")
    preferences[key(String?.self)] = nil
    #expect(preferences[key(String?.self)] == nil)
    preferences[key(Int.self)] = 1
    preferences[key(Double.self)] = 1.5
    preferences[key(Bool.self)] = true
    preferences[key(Data.self)] = Data([1])
    preferences[key(Date?.self)] = Date(timeIntervalSince1970: 1)
    preferences[key(URL?.self)] = URL(string: "https://swift.org")
    preferences[key([Any].self)] = [1]
    preferences[key([String: Any].self)] = ["a": 1]
    preferences[key(Any?.self)] = 1
    #expect(preferences[key(Int.self)] == 1 && preferences[key(Double.self)] == 1.5)
    #expect(preferences[key(Bool.self)] && preferences[key(Data.self)] == Data([1]))
    #expect(preferences[key(Date?.self)] == Date(timeIntervalSince1970: 1))
    #expect(preferences[key(URL?.self)]?.host == "swift.org")
    #expect(preferences[key([Any].self)].count == 1)
    #expect(preferences[key([String: Any].self)].count == 1)
    #expect(preferences[key(Any?.self)] as? Int == 1)
    preferences.clearAll()
    #expect(preferences[key(String.self)] == "" && preferences[key(Int.self)] == 0)
    #expect(preferences[key(Int?.self)] == nil && preferences[key(Double?.self)] == nil)
    #expect(preferences[key(Bool?.self)] == nil && !preferences[key(Bool.self)])
    #expect(preferences[key(Data?.self)] == nil && preferences[key(Data.self)].isEmpty)
    #expect(preferences[key([Any]?.self)] == nil && preferences[key([Any].self)].isEmpty)
    #expect(preferences[key([String: Any]?.self)] == nil)
    #expect(preferences[key([String: Any].self)].isEmpty && preferences[key(Double.self)] == 0)
    preferences[key(Int?.self)] = 0
    #expect(preferences[key(Int?.self)] == 0)
  }

  @Test func keysOfSystems() {
    let preferences = MutableDictionaryPreferences()
    preferences[.AppleLanguages] = ["en"]
    #expect(preferences["AppleLanguages"] as? [String] == ["en"])
    #expect(CoreFoundationKeys.allCases.count == 34 && LaunchServicesKeys.allCases.count == 17)
    #expect(IOSKeys.allCases.count == 24 && WatchOSKeys.allCases.count == 6)
    #expect(OSXKeys.allCases.count == 6 && UserDefaultsKeySeparator == ".")
  }
}
