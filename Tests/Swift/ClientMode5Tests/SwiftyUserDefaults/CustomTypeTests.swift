// swift-format-ignore-file
import Foundation
import SwiftyUserDefaults
import Testing

// The bridges that the document shows as examples; here they are the client's own.

public struct SampleKeyedArchiverBridge<T>: DefaultsBridge {

  public func get(key: String, userDefaults: UserDefaults) -> T? {
    userDefaults.data(forKey: key).flatMap(NSKeyedUnarchiver.unarchiveObject) as? T
  }

  public func save(key: String, value: T?, userDefaults: UserDefaults) {
    guard let value = value else { return userDefaults.removeObject(forKey: key) }
    userDefaults.set(NSKeyedArchiver.archivedData(withRootObject: value), forKey: key)
  }

  public func deserialize(_ object: Any) -> T? {
    guard let data = object as? Data else { return nil }
    return NSKeyedUnarchiver.unarchiveObject(with: data) as? T
  }
}

public struct SampleArrayBridge<T: Collection>: DefaultsBridge {
  public func save(key: String, value: T?, userDefaults: UserDefaults) {
    userDefaults.set(value, forKey: key)
  }

  public func get(key: String, userDefaults: UserDefaults) -> T? {
    userDefaults.array(forKey: key) as? T
  }

  public func deserialize(_ object: Any) -> T? {
    nil
  }
}

final class FrogArchived: NSObject, NSCoding, DefaultsSerializable {

  static var _defaults: SampleKeyedArchiverBridge<FrogArchived> { SampleKeyedArchiverBridge() }
  static var _defaultsArray: DefaultsKeyedArchiverBridge<[FrogArchived]> {
    DefaultsKeyedArchiverBridge()
  }

  let name: String

  init(name: String) { self.name = name }

  init?(coder: NSCoder) { name = coder.decodeObject(forKey: "name") as? String ?? "" }

  func encode(with coder: NSCoder) { coder.encode(name as NSString, forKey: "name") }
}

final class DefaultsFrogBridge: DefaultsBridge {
  func get(key: String, userDefaults: UserDefaults) -> FrogCustomSerializable? {
    let name = userDefaults.string(forKey: key)
    return name.map(FrogCustomSerializable.init)
  }

  func save(key: String, value: FrogCustomSerializable?, userDefaults: UserDefaults) {
    userDefaults.set(value?.name, forKey: key)
  }

  func deserialize(_ object: Any) -> FrogCustomSerializable? {
    guard let name = object as? String else { return nil }

    return FrogCustomSerializable(name: name)
  }
}

final class DefaultsFrogArrayBridge: DefaultsBridge {
  func get(key: String, userDefaults: UserDefaults) -> [FrogCustomSerializable]? {
    userDefaults.array(forKey: key)?
      .compactMap { $0 as? String }
      .map(FrogCustomSerializable.init)
  }

  func save(key: String, value: [FrogCustomSerializable]?, userDefaults: UserDefaults) {
    let values = value?.map { $0.name }
    userDefaults.set(values, forKey: key)
  }

  func deserialize(_ object: Any) -> [FrogCustomSerializable]? {
    guard let names = object as? [String] else { return nil }

    return names.map(FrogCustomSerializable.init)
  }
}

struct FrogCustomSerializable: DefaultsSerializable, Equatable {

  static var _defaults: DefaultsFrogBridge { DefaultsFrogBridge() }
  static var _defaultsArray: DefaultsFrogArrayBridge { DefaultsFrogArrayBridge() }

  let name: String
}

// The sample extends `Data`, which has the conformance here already; a type of the client's takes
// its place.
struct Bytes: Equatable { var data: Data }

extension Bytes: DefaultsSerializable {
  public static var _defaultsArray: DefaultsNestedArrayBridge<Bytes> { .init() }
  public static var _defaults: BytesBridge { BytesBridge() }
}

struct BytesBridge: DefaultsBridge {
  func get(key: String, userDefaults: UserDefaults) -> Bytes? {
    DefaultsDataBridge().get(key: key, userDefaults: userDefaults).map(Bytes.init)
  }

  func save(key: String, value: Bytes?, userDefaults: UserDefaults) {
    DefaultsDataBridge().save(key: key, value: value?.data, userDefaults: userDefaults)
  }

  func deserialize(_ object: Any) -> Bytes? {
    DefaultsDataBridge().deserialize(object).map(Bytes.init)
  }
}

@Suite struct CustomTypeTests {
  @Test func bridgesOfTheDocument() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      let frog = DefaultsKey<FrogArchived?>("frog")
      Defaults[key: frog] = FrogArchived(name: "Froggy")
      #expect(Defaults[key: frog]?.name == "Froggy")
      let bridge = SampleArrayBridge<[String]>()
      bridge.save(key: "list", value: ["a"], userDefaults: Defaults.defaults)
      #expect(bridge.get(key: "list", userDefaults: Defaults.defaults) == ["a"])
    }
  }

  @Test func bridgesOfOnesOwn() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      let frog = DefaultsKey<FrogCustomSerializable?>("frog")
      let froggies = DefaultsKey<[FrogCustomSerializable]>("froggies", defaultValue: [])
      Defaults[key: frog] = FrogCustomSerializable(name: "Froggy")
      Defaults[key: froggies].append(FrogCustomSerializable(name: "Andy"))
      #expect(Defaults[key: frog] == FrogCustomSerializable(name: "Froggy"))
      #expect(Defaults[key: froggies] == [FrogCustomSerializable(name: "Andy")])
    }
  }

  @Test func existingTypes() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      let bytes = DefaultsKey<[Bytes]>("bytes", defaultValue: [])
      Defaults[key: bytes].append(Bytes(data: Data([1])))
      #expect(Defaults[key: bytes] == [Bytes(data: Data([1]))])
    }
  }
}
