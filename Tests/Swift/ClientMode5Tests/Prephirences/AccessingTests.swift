import Foundation
import Prephirences
import Testing

private enum MyKey: PreferenceKey /*String*/ {
  case Key1, Key2, Key3
}

@Suite("Accessing")
struct AccessingTests {
  @Test func byKey() {
    let fromDicoLiteral: DictionaryPreferences = ["myKey": "myValue", "bool": true]
    var found: [Any] = []

    if let myValue = fromDicoLiteral.object(forKey: "myKey") { found.append(myValue) }
    if let myValue = fromDicoLiteral["bool"] as? Bool { found.append(myValue) }
    var hasKey = fromDicoLiteral.hasObject(forKey: "myKey")
    var myValue = fromDicoLiteral.bool(forKey: "myKey")

    #expect(found.first as? String == "myValue")
    #expect(found.last as? Bool == true)
    #expect(hasKey)
    #expect(!myValue)
    #expect(fromDicoLiteral.bool(forKey: "bool"))
    #expect(!fromDicoLiteral.hasObject(forKey: "absent"))
  }

  @Test func byEnumeration() {
    let fromDicoLiteral: DictionaryPreferences = ["Key1": "first", "Key2": true]
    var found: [Any] = []

    if let myValue = fromDicoLiteral.object(forKey: MyKey.Key1) { found.append(myValue) }
    var myValue = fromDicoLiteral.bool(forKey: MyKey.Key2)

    #expect(found as? [String] == ["first"])
    #expect(myValue)
    #expect(fromDicoLiteral.object(forKey: MyKey.Key3) == nil)
  }
}
