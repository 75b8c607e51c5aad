import Foundation
import Prephirences
import Testing

// Outside the suite, because on Linux `NSStringFromClass` has no name for nested classes.
final class Framework: NSObject {
  func registerItself(_ currentClassPreferences: PreferencesType) {
    Prephirences.instances()[NSStringFromClass(type(of: self))] = currentClassPreferences
  }
}

@Suite("Managing preferences instances")
struct RegistryTests {
  // Changes state that exists once per process, so it runs in its own.
  @Test func sharedInstanceAndInstances() async {
    await #expect(processExitsWith: .success) {
      let myPreferences: MutableDictionaryPreferences = ["a": 1]
      var found: [Int] = []

      Prephirences.sharedInstance = myPreferences
      Prephirences.register(preferences: myPreferences, forKey: "myKey")
      if let pref = Prephirences.instance(forKey: "myKey") {
        found.append(pref.integer(forKey: "a"))
      }

      let others: DictionaryPreferences = ["a": 2]
      Prephirences.instances()["myKey"] = others
      if let pref = Prephirences.instances()["myKey"] { found.append(pref.integer(forKey: "a")) }

      let framework = Framework()
      framework.registerItself(DictionaryPreferences(["a": 3]))
      if let pref = Prephirences.instances()[NSStringFromClass(Framework.self)] {
        found.append(pref.integer(forKey: "a"))
      }
      #expect(found == [1, 2, 3])
      #expect(Prephirences.sharedInstance["a"] as? Int == 1)
      #expect(Prephirences.sharedMutableInstance as AnyObject? === myPreferences)
    }
  }
}
