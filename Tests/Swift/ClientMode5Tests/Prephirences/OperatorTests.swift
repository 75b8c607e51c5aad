// swift-format-ignore-file
// The statements stand as the document writes them.
import Foundation
import Prephirences
import Testing

@Suite("Operators")
struct OperatorTests {
  private let aPrefs: MutableDictionaryPreferences = ["intKey": 1, "boolKey": true]

  @Test func integers() {
    do {
      var intPref: MutablePreference<Int> = aPrefs.preference(forKey: "intKey")
      #expect(intPref.value == 1)
    }
    var intPref: MutablePreference<Int> = aPrefs <| "intKey"
    intPref++
    #expect(aPrefs.integer(forKey: "intKey") == 2)
    intPref--
    #expect(aPrefs.integer(forKey: "intKey") == 1)
    intPref += 30
    #expect(aPrefs.integer(forKey: "intKey") == 31)
    intPref -= 30
    #expect(aPrefs.integer(forKey: "intKey") == 1)
    intPref *= 20
    #expect(aPrefs.integer(forKey: "intKey") == 20)
    intPref %= 7
    #expect(aPrefs.integer(forKey: "intKey") == 6)
    intPref /= 3
    #expect(aPrefs.integer(forKey: "intKey") == 2)
  }

  @Test(arguments: [(1, "one"), (2, "not one or zero but..."), (10, "not one or zero but..."), (0, "unkwown"), (11, "unkwown")])
  func patterns(value: Int, text: String) {
    var printed: [String] = []
    func println(_ text: String) { printed.append(text) }
    aPrefs["intKey"] = value
    var intPref: MutablePreference<Int> = aPrefs <| "intKey"

    switch(intPref) {
    case 1: println("one")
    case 2...10: println("not one or zero but...")
    default: println("unkwown")
    }

    #expect(printed == [text])
  }

  @Test func truthValues() {
    var boolPref: MutablePreference<Bool> = aPrefs <| "boolKey"
    boolPref &= false
    #expect(aPrefs["boolKey"] as? Bool == false)
    boolPref |= true
    #expect(aPrefs["boolKey"] as? Bool == true)
    boolPref != true
    #expect(aPrefs["boolKey"] as? Bool == false)
  }

  @Test func apply() {
    let userDefaults: MutableDictionaryPreferences = ["stringKey": "text"]

    var stringPref: MutablePreference<String> = userDefaults <| "stringKey"
    stringPref.apply { value in
      return value?.uppercased()
    }

    #expect(userDefaults["stringKey"] as? String == "TEXT")
  }

  @Test func transform() {
    let boolPref: MutablePreference<Bool> = aPrefs <| "boolKey"

    let intFromBoolPref : MutablePreference<Int> = boolPref.transform { value in
      return (value ?? false) ? 1:0
    }

    #expect(intFromBoolPref.value == 1)
    #expect(aPrefs["boolKey"] as? Int == 1)
  }
}
