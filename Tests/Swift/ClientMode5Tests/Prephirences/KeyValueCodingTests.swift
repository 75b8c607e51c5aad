import Foundation
import Prephirences
import Testing

final class MyClass: NSObject {
  var color = "red"
  var age = 33
}

extension MyClass: PreferenceKeyPaths {
  static var preferenceKeyPaths: [AnyKeyPath] { [\MyClass.color, \MyClass.age] }
}

@Suite("Key value coding")
struct KeyValueCodingTests {
  @Test func object() {
    let myObject = MyClass()

    let kvcPref = MutableKVCPreferences(myObject)

    #expect(kvcPref["color"] as? String == "red")
    kvcPref["color"] = "blue"
    kvcPref.set(34, forKey: "age")
    #expect(myObject.color == "blue")
    #expect(myObject.age == 34)
    #expect(KVCPreferences(myObject).dictionary().count == 2)
  }

  @Test func listOfKeyPaths() {
    final class Person {
      var color = "red"
      var age = 33
    }
    let object = Person()
    let preferences = MutableKVCPreferences(object, [\.color, \.age])
    preferences["age"] = 34
    #expect(object.age == 34)
    #expect(preferences.string(forKey: "color") == "red")
  }
}
