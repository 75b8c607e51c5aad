import Foundation
import Prephirences
import SwiftyUserDefaults
import Testing

/// A bridge that uses the methods of `UserDefaults`.
private struct FrogBridge: DefaultsBridge {
  func get(key: String, userDefaults: UserDefaults) -> Frog? {
    userDefaults.string(forKey: key).map(Frog.init)
  }

  func save(key: String, value: Frog?, userDefaults: UserDefaults) {
    userDefaults.set(value?.name, forKey: key)
  }

  func deserialize(_ object: Any) -> Frog? { (object as? String).map(Frog.init) }
}

private struct FrogArrayBridge: DefaultsBridge {
  func get(key: String, userDefaults: UserDefaults) -> [Frog]? {
    userDefaults.stringArray(forKey: key)?.map(Frog.init)
  }

  func save(key: String, value: [Frog]?, userDefaults: UserDefaults) {
    userDefaults.set(value?.map(\.name), forKey: key)
  }

  func deserialize(_ object: Any) -> [Frog]? { (object as? [String])?.map(Frog.init) }
}

private struct Frog: DefaultsSerializable, Equatable {
  let name: String

  static var _defaults: FrogBridge { FrogBridge() }
  static var _defaultsArray: FrogArrayBridge { FrogArrayBridge() }
}

/// A bridge that only converts.
private struct ToadBridge: DefaultsSerializingBridge {
  func serialize(_ toad: Toad) -> Any { toad.name }
  func deserialize(_ object: Any) -> Toad? { (object as? String).map(Toad.init) }
}

private struct Toad: DefaultsSerializable, Equatable {
  let name: String

  static var _defaults: ToadBridge { ToadBridge() }
  static var _defaultsArray: DefaultsNestedArrayBridge<Toad> { DefaultsNestedArrayBridge() }
}

@Suite struct CustomBridgeTests {
  @Test func bridgesOfUserDefaults() {
    let defaults = makeAdapter()
    let key = DefaultsKey<Frog?>("frog")
    let list = DefaultsKey<[Frog]>("list", defaultValue: [])
    #expect(defaults[key: key] == nil)
    defaults[key: key] = Frog(name: "a")
    defaults[key: list].append(Frog(name: "b"))
    #expect(defaults[key: key] == Frog(name: "a"))
    #expect(defaults[key: list] == [Frog(name: "b")])
    defaults[key: key] = nil
    #expect(!defaults.hasKey(key))
  }

  @Test func bridgesNest() {
    let defaults = makeAdapter()
    let key = DefaultsKey<[[Frog]]>("frogs", defaultValue: [])
    let named = DefaultsKey<[String: Frog]?>("named")
    defaults[key: key] = [[Frog(name: "a")], []]
    defaults[key: named] = ["b": Frog(name: "b")]
    #expect(defaults[key: key] == [[Frog(name: "a")], []])
    #expect(defaults[key: named] == ["b": Frog(name: "b")])
    #expect(defaults.defaults.preferenceObject(forKey: "frogs") as? [[String]] == [["a"], []])
  }

  @Test func convertingBridges() {
    let defaults = makeAdapter()
    let key = DefaultsKey<[Toad]>("toads", defaultValue: [])
    let seen = Received<[Toad]?>()
    let observer = defaults.observe(key) { seen.add($0.newValue) }
    defaults[key: key].append(Toad(name: "a"))
    #expect(defaults[key: key] == [Toad(name: "a")])
    #expect(seen.all == [[Toad(name: "a")]])
    observer.dispose()
  }
}
