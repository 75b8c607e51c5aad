internal import Foundation
internal import Prephirences
internal import Testing

/// Values that transformations refuse are reported with the failures of the store.
@Suite("Refused values")
struct RefusalTests {
  struct Point: Codable, Equatable {
    var x = 1.0
  }
  enum Mode: String { case on }
  final class OneWay: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { false }
  }

  /// Records the refusals.
  final class Store: MutablePreferencesType {
    private(set) var values: PreferencesDictionary = [:]
    private(set) var refusals: [String] = []

    func object(forKey key: PreferenceKey) -> PreferenceObject? { values[key] }
    func dictionary() -> PreferencesDictionary { values }
    func set(_ value: PreferenceObject?, forKey key: PreferenceKey) { values[key] = value }
    func removeObject(forKey key: PreferenceKey) { values[key] = nil }
    func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
      refusals.append("\(key): \(error.code == .unstorable) \(error.message)")
    }
  }

  private let store = Store()

  @Test func eachTransformation() {
    store["k"] = "old"
    store["k", .archive] = Point()
    store.set(objectToArchive: Point(), forKey: "k")
    store["k", .valueTransformer(OneWay())] = 1
    store["k", JSONObjectTransformer()] = Point()
    store["k", .compose(transformations: [TransformationKey.none, TransformationKey.archive])] =
      Point()
    MutablePreference<Point>(preferences: store, key: "k").value = Point(x: .nan)
    store["k", Mode.preferenceTransformation] = 1
    #expect(store["k"] as? String == "old")
    let unarchivable = "k: true the value of the key 'k' is of type Point, which cannot be archived"
    #expect(
      store.refusals == [
        unarchivable, unarchivable,
        "k: true the value of the key 'k' could not be read back: its transformer is not reversible",
        "k: true the value of the key 'k' is of type Point, which its transformation does not accept",
        unarchivable,
        "k: true the value of the key 'k' is of type Point, which cannot be encoded at 'x': JSON has only finite numbers",
        "k: true the value of the key 'k' is of type Int, which its transformation does not accept",
      ])
    store["k", .archive] = nil
    #expect(store["k"] == nil && store.refusals.count == 7)
  }

  @Test func throughOtherPreferences() {
    let composite: MutableCompositePreferences = [DictionaryPreferences([:]), store]
    let proxy = MutableProxyPreferences(preferences: composite, key: "a.")
    proxy["k", .archive] = Point()
    #expect(store.refusals.first?.hasPrefix("a.k: true") == true)
  }

  @Test func userDefaults() throws {
    let defaults = try #require(UserDefaults(suiteName: "refusals-\(UUID().uuidString)"))
    defaults["k", .archive] = Point()
    #expect(defaults.lastPreferencesError?.code == .unstorable)
    defaults["k"] = nil
    #expect(defaults.lastPreferencesError == nil)
    let point = UserDefaultsPreference<Point>(userDefaults: defaults, key: "k")
    point.value = Point(x: .infinity)
    #expect(defaults.lastPreferencesError?.message.contains("'x'") == true)
    defaults.clearAll()
  }

  @Test func everyStoreHasBothNamesAndCombinationsPassThemOn() throws {
    let folder = try TemporaryFolder()
    let plist = try Plist(openingFile: folder("a.plist"))
    let composite: MutableCompositePreferences = [DictionaryPreferences([:]), plist]
    let proxy = MutableProxyPreferences(preferences: composite, key: "a.")
    let defaults = try #require(UserDefaults(suiteName: "refusals-\(UUID().uuidString)"))
    let backed = BackedUserDefaults(preferences: plist)
    let object = MutableKVCPreferences(Settings(), [\Settings.age])
    let stores: [any MutablePreferencesType] = [plist, composite, proxy, defaults, backed, object]
    for store in stores { store["k"] = NSObject() }
    for store in stores + [MutableProxyPreferences(preferences: object, key: "")] {
      #expect(store.lastError != nil && store.lastPreferencesError == store.lastError)
    }
    // Members of these names are no keys.
    let errors = [
      plist.lastPreferencesError, composite.lastError, composite.lastPreferencesError,
      proxy.lastError, defaults.lastError, object.lastPreferencesError,
    ]
    #expect(!errors.contains(nil))
    #expect(MutableDictionaryPreferences(["lastError": 1]).lastError == nil)
  }

  private final class Settings { var age = 1 }

  /// Foundation keeps a part of a text, too.
  @Test func aPartOfATextIsAText() throws {
    let text = "host=a.b".split(separator: "=")[1]
    let defaults = try #require(UserDefaults(suiteName: "refusals-\(UUID().uuidString)"))
    defer { defaults.clearAll() }
    let folder = try TemporaryFolder()
    let plist = try Plist(openingFile: folder("a.plist"))
    let stores: [any MutablePreferencesType] = [
      plist, defaults, BackedUserDefaults(preferences: MutableDictionaryPreferences()),
    ]
    for store in stores {
      store["k"] = text
      store.set(dictionary: ["d": [text: [text]], "n": "8=80".dropFirst(2)])
      #expect(store.string(forKey: "k") == "a.b" && store.lastError == nil)
      #expect(store.integer(forKey: "n") == 80)
    }
    #expect(defaults["d"] as? [String: [String]] == ["a.b": ["a.b"]])
    #expect(defaults.string(forKey: "k") == "a.b")
    try plist.writeFile()
    try plist.readFile()
    #expect(plist["d"] as? [String: [String]] == ["a.b": ["a.b"]])
    for value in [Character("a"), "a" as StaticString, [1][...], Set([1])] as [Any] {
      defaults["k"] = value
      #expect(defaults.lastError?.code == .unstorable && defaults["k"] as? String == "a.b")
    }
  }

  @Test func gettersOfUserDefaultsConvertADecimal() throws {
    let defaults = try #require(UserDefaults(suiteName: "refusals-\(UUID().uuidString)"))
    defer { defaults.clearAll() }
    defaults["k"] = Decimal(string: "1.1")
    let preferences: any PreferencesType = defaults
    #expect(preferences.double(forKey: "k") == 1.1 && preferences.float(forKey: "k") == 1.1)
    #expect(preferences.integer(forKey: "k") == 1 && preferences.bool(forKey: "k"))
  }

  @Test func recoveryIsGiven() throws {
    let plist: Plist = [:]
    let said: [(Any, String?)] = [
      (Mode.on, "set its rawValue"), (NSObject(), nil), (["a": Set<[String]>([[]])], "encodable"),
      (Point(), "use set(encodable:forKey:) or Preference<Point>"),
    ]
    for (value, remedy) in said {
      plist["k"] = value
      let message = try #require(plist.lastError?.message)
      #expect(
        remedy.map(message.contains) ?? message.hasSuffix("which cannot be stored"), "\(message)")
    }
    plist["\u{feff}k"] = 1
    #expect(plist.lastError?.message.hasSuffix("which cannot be stored") == true)
  }

  @Test func propertyLists() throws {
    let folder = try TemporaryFolder()
    let plist = try Plist(openingFile: folder("a.plist"))
    let composite: MutableCompositePreferences = [plist]
    composite["k", .archive] = Point()
    #expect(plist.lastError?.code == .unstorable)
    #expect(plist.write() && plist.lastError == nil)
  }

  @Test func objects() {
    final class Person { var age = 1 }
    let preferences = MutableKVCPreferences(Person(), [\.age])
    preferences["age", .archive] = Point()
    #expect(preferences.lastError?.code == .unstorable)
    let unlisted = MutableKVCPreferences(Person())
    unlisted["age"] = 2
    #expect(
      unlisted.lastError?.message.contains("make the class conform to PreferenceKeyPaths") == true)
  }
}

@Suite("Nulls of JSON")
struct NullTests {
  @Test func areLeftOutAtAnyDepth() throws {
    let json = #"{"a": 1, "null": null, "list": [1, null, {"x": null, "y": 2}], "only": [null]}"#
    let values = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? PreferencesDictionary)
    let stores: [any MutablePreferencesType] = [
      MutableDictionaryPreferences(), MinimalPreferences(),
      try #require(UserDefaults(suiteName: "nulls-\(UUID().uuidString)")),
    ]
    for store in stores {
      store["null"] = "stays"
      store.set(dictionary: values)
      #expect(store.integer(forKey: "a") == 1 && store["null"] as? String == "stays")
      let list = store["list"] as? [Any]
      #expect(list?.count == 2 && (list?.last as? [String: Int]) == ["y": 2])
      #expect((store["only"] as? [Any])?.isEmpty == true)
      store.clearAll()
    }
  }

  @Test func valuesWithoutOneKeepTheirType() {
    let store = MutableDictionaryPreferences()
    store.set(dictionary: ["ints": [1, 2], "range": 1...2, "nested": [["a": 1]], "set": Set([1])])
    #expect(store["ints"] is [Int] && store["range"] is ClosedRange<Int>)
    #expect(store["nested"] is [[String: Int]] && store["set"] is Set<Int>)
  }
}
