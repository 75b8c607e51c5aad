// swift-format-ignore-file
// The declarations stand as the document writes them.
import Foundation
import Prephirences
import Testing

/// An object that property list stores do not accept unchanged.
struct MyObject: Equatable {
  var name: String
  var size: Int
}

struct MyTransformation: PreferenceTransformation {
  func transformedValue(_ value: Any?) -> PreferenceObject? {
    (value as? MyObject).map { ["name": $0.name, "size": $0.size] }
  }

  func reverseTransformedValue(_ value: PreferenceObject?) -> Any? {
    guard let fields = value as? [String: Any], let name = fields["name"] as? String else {
      return nil
    }
    return MyObject(name: name, size: fields["size"] as? Int ?? 0)
  }
}

private let userDefaults = MutableDictionaryPreferences()

private func lessThan100(_ value: Int?) -> Bool { (value ?? 0) < 100 }

public var intValueMin10: MutablePreference<Int> {
  get {
    return userDefaults.preference(forKey: "intKey")
      .whenNil(use: 100)
      .ensure(when: lessThan100, use: 100)
  }
  set { userDefaults["intKey"] = newValue.value }
}

@Suite("Transformation")
struct TransformationTests {
  @Test func subscripts() throws {
    let temporary = try TemporaryDefaults()
    let userDefaults = temporary.defaults
    let (myTransformation, myObject) = (MyTransformation(), MyObject(name: "a", size: 3))
    var found: MyObject?

    userDefaults["aKey", myTransformation] = myObject
    if let object = userDefaults["aKey", myTransformation] { found = object as? MyObject }

    #expect(found == myObject)
    #expect((userDefaults["aKey"] as? [String: Any])?["size"] as? Int == 3)
  }

  @Test func ofOnePreference() throws {
    let temporary = try TemporaryDefaults()
    let userDefaults = temporary.defaults
    let myTransformation = MyTransformation()

    var aPref: MutablePreference<MyObject> = userDefaults <| "aKey"
    aPref.transformation = myTransformation

    aPref.value = MyObject(name: "b", size: 4)
    #expect(aPref.value == MyObject(name: "b", size: 4))
    #expect((userDefaults["aKey"] as? [String: Any])?["name"] as? String == "b")
  }

  @Test func utilityFunctions() {
    #expect(intValueMin10.value == 100)
    #expect(userDefaults["intKey"] == nil)
    userDefaults["intKey"] = 5
    #expect(intValueMin10.value == 100)
    #expect(userDefaults["intKey"] as? Int == 5)
    userDefaults["intKey"] = 500
    #expect(intValueMin10.value == 500)
    intValueMin10 += 1
    #expect(userDefaults["intKey"] as? Int == 501)
  }
}
