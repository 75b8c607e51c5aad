import Foundation
import Prephirences
import Testing

@Suite("Modifying")
struct ModifyingTests {
  @Test func setters() {
    var mutableFromDico: MutableDictionaryPreferences = ["myKey": "myValue"]
    mutableFromDico["newKey"] = "newValue"
    #expect(mutableFromDico["newKey"] as? String == "newValue")
    mutableFromDico.set("myValue", forKey: "newKey")
    #expect(mutableFromDico["newKey"] as? String == "myValue")
    mutableFromDico.set(true, forKey: "newKey")
    #expect(mutableFromDico["newKey"] as? Bool == true)

    mutableFromDico += ["newKey": "newValue", "otherKey": true]
    #expect(mutableFromDico["newKey"] as? String == "newValue")
    #expect(mutableFromDico["otherKey"] as? Bool == true)
    #expect(mutableFromDico["myKey"] as? String == "myValue")

    mutableFromDico -= "myKey"
    #expect(mutableFromDico["myKey"] == nil)
    #expect(mutableFromDico.dictionary().count == 2)

    let others: DictionaryPreferences = ["third": 3]
    mutableFromDico += others
    #expect(mutableFromDico.integer(forKey: "third") == 3)
  }
}
