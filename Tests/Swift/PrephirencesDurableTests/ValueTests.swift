import Foundation
import Prephirences
import PrephirencesDurable
import Testing

@Suite struct ValueTests {
  @Test func numbersKeepValuesOfEachWidth() throws {
    let folder = try TestFolder()
    try folder.store().storeObjects([
      "max": Int.max, "min": Int.min, "unsigned": UInt64.max, "small": UInt8.max, "one": 1,
      "float": Float(0.1), "double": 0.1, "cg": CGFloat(1.5), "truth": true,
      "object": NSNumber(value: UInt64.max),
    ])
    let read = folder.otherStore()
    #expect(read["max"] as? Int == .max)
    #expect(read["min"] as? Int == .min)
    #expect(read["unsigned"] as? UInt64 == .max)
    #expect(read["unsigned"] as? Int == nil)
    #expect(read["object"] as? UInt64 == .max)
    #expect(read["small"] as? UInt8 == .max)
    #expect(read["small"] as? Int8 == nil)
    #expect(read["one"] as? Int16 == 1)
    #expect(read["float"] as? Float == Float(0.1))
    #expect(read["double"] as? Double == 0.1)
    #expect(read["cg"] as? Double == 1.5)
    #expect(read["truth"] as? Bool == true)
    #expect(read["truth"] is Bool)
  }

  @Test(
    arguments: [
      Double.nan.bitPattern, Double.signalingNaN.bitPattern, 0xFFF8_0000_0000_0007, 1 << 63,
      0x7FF0 << 48, 1,
    ] as [UInt64])
  func doublesKeepTheirBits(_ bits: UInt64) throws {
    let folder = try TestFolder()
    let number = Double(bitPattern: bits)
    folder.store()["number"] = [number]
    folder.store()["date"] = Date(timeIntervalSinceReferenceDate: number)
    let read = folder.otherStore()
    #expect((read["number"] as? [Double])?.first?.bitPattern == bits)
    #expect((read["date"] as? Date)?.timeIntervalSinceReferenceDate.bitPattern == bits)
  }

  @Test(arguments: [.nan, .greatestFiniteMagnitude, -.leastNonzeroMagnitude] as [Decimal])
  func decimalsKeepTheirValue(_ decimal: Decimal) throws {
    let folder = try TestFolder()
    folder.store()["decimal"] = decimal
    let read = try folder.otherStore().fetchObject(forKey: "decimal")
    #expect((read as? Decimal)?.description == decimal.description)
  }

  @Test func otherValuesKeepTypeAndContents() throws {
    let folder = try TestFolder()
    let url = try #require(URL(string: "x?y#z", relativeTo: URL(string: "https://a.b/c/")))
    let decimal = try #require(Decimal(string: "1.00000000000000000000000001"))
    let uuid = UUID()
    let date = Date(timeIntervalSinceReferenceDate: 1.123_456_789)
    try folder.store().storeObjects([
      "url": url, "decimal": decimal, "uuid": uuid, "date": date, "text": "a\0b\u{FEFF}",
      "data": Data([0, 255]), "empty": Data(), "none": "",
      "nested": ["a": [1, "x", ["b": date]]] as [String: Any],
    ])
    let read = folder.otherStore()
    #expect(read["url"] as? URL == url)
    #expect((read["url"] as? URL)?.baseURL == url.baseURL)
    #expect(read["decimal"] as? Decimal == decimal)
    #expect(read["uuid"] as? UUID == uuid)
    #expect(read["date"] as? Date == date)
    #expect(read["text"] as? String == "a\0b\u{FEFF}")
    #expect(read["data"] as? Data == Data([0, 255]))
    #expect(read["empty"] as? Data == Data())
    #expect(read["none"] as? String == "")
    let list = (read["nested"] as? [String: Any])?["a"] as? [Any]
    #expect(list?.count == 3)
    #expect((list?.last as? [String: Any])?["b"] as? Date == date)
  }

  @Test func keysAreComparedByBytes() throws {
    let folder = try TestFolder()
    let keys = ["\u{E9}", "e\u{301}", "a\0b", "a", "", "\u{FEFF}a"]
    for (number, key) in keys.enumerated() { folder.store()[key] = number }
    for (number, key) in keys.enumerated() {
      #expect(folder.otherStore()[key] as? Int == number)
      #expect(folder.store()[key] as? Int == number)
    }
  }

  /// Foundation keeps a part of a text, too; a program may not notice that it has one.
  @Test func valuesOfOtherTypesAreKeptAsWhatTheyStandFor() throws {
    let folder = try TestFolder()
    let store = folder.store()
    let text = "host=a.b".split(separator: "=")[1]
    let object = NSMutableDictionary(dictionary: ["n": NSNumber(value: Float(0.1))])
    store.set(dictionary: [
      "text": text, "list": [text], "value": ["k": text], "key": [text: [text: 1]],
      "half": Float16(1.5), "wide": Int128(7), "object": object,
    ])
    #expect(store.lastError == nil)
    MutablePreference<[Substring: [Substring]]>(preferences: store, key: "typed").value = [
      text: [text]
    ]
    let read = folder.otherStore()
    #expect(read["text"] as? String == "a.b" && read["list"] as? [String] == ["a.b"])
    #expect(read["value"] as? [String: String] == ["k": "a.b"])
    #expect(read["key"] as? [String: [String: Int]] == ["a.b": ["a.b": 1]])
    #expect(read["half"] as? Double == 1.5 && read["wide"] as? Int == 7)
    #expect((read["object"] as? [String: Any])?["n"] as? Float == 0.1)
    #expect(Preference<Substring>(preferences: read, key: "text").value == text)
    let typed = Preference<[Substring: [Substring]]>(preferences: read, key: "typed")
    #expect(typed.value == [text: [text]])
    #if arch(x86_64)
    store["long"] = Float80(0.5)
    #expect(read["long"] as? Double == 0.5)
    store["long"] = Float80(1) / 3
    #expect(store.lastError?.code == .unstorable && read["long"] as? Double == 0.5)
    #endif
  }

  @Test func refusedValuesChangeNothing() throws {
    let folder = try TestFolder()
    let store = folder.store()
    store["key"] = 1
    struct Other {}
    let values: [Any] = [
      Other(), NSObject(), [Other()], ["a": Other()], [1: 2], Character("a"), "a" as StaticString,
      [1, 2][...], Set([1]), Int128.max,
    ]
    for value in values {
      store["key"] = value
      #expect(store.lastError?.code == .unstorable)
      #expect(store["key"] as? Int == 1)
    }
    store.set(dictionary: ["key": 2, "bad": Other()])
    #expect(store.lastError?.code == .unstorable)
    #expect(store["key"] as? Int == 1)
  }

  @Test func depthIsLimited() throws {
    let folder = try TestFolder()
    func nested(_ depth: Int) -> Any { (0..<depth).reduce(1 as Any) { value, _ in [value] } }
    try folder.store().storeObject(nested(199), forKey: "deep")
    #expect(try folder.otherStore().fetchObject(forKey: "deep") != nil)
    #expect(throws: PreferencesError.self) {
      try folder.store().storeObject(nested(201), forKey: "deep")
    }
  }

  @Test func aValueIsStoredAndReadAsItIs() throws {
    let folder = try TestFolder()
    let store = folder.store()
    let values: [PreferenceValue] = [
      true, -1, .unsignedInteger(.max), .float(0.1), 0.1, "text", .data(Data([0])),
      .date(Date(timeIntervalSinceReferenceDate: 0.5)), .uuid(UUID()), .decimal(1.5), [1, "a"],
      ["a": [1.5]],
    ]
    try store.storeValue(.array(values), forKey: "values")
    #expect(try folder.otherStore().fetchValue(forKey: "values") == .array(values))
    let key = DurablePreferences.Key<PreferenceValue>("value", default: 0)
    store[key] = ["a": 1]
    #expect(folder.otherStore()[key] == ["a": 1])
    #expect(
      PreferenceValue.integer(1) != .double(1) && PreferenceValue.double(.nan) == .double(.nan))
    #expect(PreferenceValue.string("\u{E9}") != .string("e\u{301}"))
  }

  @Test func setTakesWhatCanBeStored() throws {
    let folder = try TestFolder()
    let store = folder.store()
    store.set(Int128(7), forKey: "wide")
    store.set([1, "a"] as PreferenceValue, forKey: "mixed")
    store.set(["port": 80], forKey: "record")
    store.set("gone", forKey: "nothing")
    store.set(nil, forKey: "nothing")
    let read = folder.otherStore()
    #expect(try read.fetchValue(forKey: "wide") == 7)
    #expect(try read.fetchValue(forKey: "mixed") == [1, "a"])
    #expect(try read.fetchValue(forKey: "record") == ["port": 80])
    #expect(try read.fetchValue(forKey: "nothing") == nil)
    store.set(Int128.max, forKey: "wide")
    #expect(store.lastError?.code == .unstorable && store.integer(forKey: "wide") == 7)
  }

  @Test func aValueThatIsNestedTooDeeplyIsRefused() throws {
    let folder = try TestFolder()
    func nested(_ depth: Int) -> PreferenceValue {
      (0..<depth).reduce(.data(Data([1]))) { value, _ in [value] }
    }
    try folder.store().storeValue(nested(200), forKey: "deep")
    let stored = try #require(try folder.otherStore().fetchValue(forKey: "deep"))
    #expect(try PreferenceValue(object: stored.object) == stored)
    let error = #expect(throws: PreferencesError.self) {
      try folder.store().storeValue(nested(201), forKey: "deep")
    }
    #expect(error?.code == .unstorable)
    #expect(try folder.otherStore().fetchValue(forKey: "deep") == stored)
  }
}
