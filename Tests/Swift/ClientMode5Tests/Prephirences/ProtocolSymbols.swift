// swift-format-ignore-file
// Each public symbol of the released library, used with its own type: what compiles here, compiles in
// a program that was written for it. Nothing of this runs, but for what the tests assert.
import Foundation
import Prephirences

typealias Names = (PreferenceObject, PreferenceKey, PreferencesDictionary, PreferenceTransformationObject)

func useTypes() {
  let _: Any.Type = PreferenceObject.self
  let _: String.Type = PreferenceKey.self
  let _: [String: Any].Type = PreferencesDictionary.self
  let _: Any.Type = PreferenceTransformationObject.self
}

func usePreferencesType(_ preferences: PreferencesType, key: PreferenceKey) throws {
  let _: (PreferenceKey) -> PreferenceObject? = preferences.object(forKey:)
  let _: () -> PreferencesDictionary = preferences.dictionary
  let _: PreferenceObject? = preferences[key]
  let _: PreferenceObject? = preferences[dynamicMember: key]
  let _: PreferenceObject? = preferences.anyMember
  let _: (PreferenceKey) -> Bool = preferences.hasObject(forKey:)
  let _: (PreferenceKey) -> String? = preferences.string(forKey:)
  let _: (PreferenceKey) -> [PreferenceObject]? = preferences.array(forKey:)
  let _: (PreferenceKey) -> PreferencesDictionary? = preferences.dictionary(forKey:)
  let _: (PreferenceKey) -> [String]? = preferences.stringArray(forKey:)
  let _: (PreferenceKey) -> Int = preferences.integer(forKey:)
  let _: (PreferenceKey) -> Float = preferences.float(forKey:)
  let _: (PreferenceKey) -> Double = preferences.double(forKey:)
  let _: (PreferenceKey) -> Bool = preferences.bool(forKey:)
  let _: (PreferenceKey) -> Data? = preferences.data(forKey:)
  let _: (PreferenceKey) -> URL? = preferences.url(forKey:)
  let _: (PreferenceKey) -> PreferenceObject? = preferences.unarchiveObject(forKey:)
  let _: [Int]? = try preferences.decodable([Int].self, forKey: key)
  let _: [Int]? = try preferences.decodable([Int].self, forKey: key, decoder: JSONDecoder())
  let _: () -> PreferencesType = preferences.immutableProxy
}

func useMutablePreferencesType(_ preferences: MutablePreferencesType, key: PreferenceKey) throws {
  let _: (PreferenceObject?, PreferenceKey) -> Void = preferences.set(_:forKey:)
  let _: (PreferenceKey) -> Void = preferences.removeObject(forKey:)
  let _: (Int, PreferenceKey) -> Void = preferences.set(_:forKey:)
  let _: (Float, PreferenceKey) -> Void = preferences.set(_:forKey:)
  let _: (Double, PreferenceKey) -> Void = preferences.set(_:forKey:)
  let _: (Bool, PreferenceKey) -> Void = preferences.set(_:forKey:)
  let _: (URL?, PreferenceKey) -> Void = preferences.set(_:forKey:)
  let _: (PreferenceObject?, PreferenceKey) -> Void = preferences.set(objectToArchive:forKey:)
  let _: () -> Void = preferences.clearAll
  let _: (PreferencesDictionary) -> Void = preferences.set(dictionary:)
  let _: ([PreferenceObject], [PreferenceKey]) -> Void = preferences.set(objects:forKeys:)
  var preferences = preferences
  preferences[key] = 1
  preferences[dynamicMember: key] = 1
  preferences.anyMember = 1
  try preferences.set(encodable: [1], forKey: key)
  try preferences.set(encodable: [1], forKey: key, encoder: JSONEncoder())
}

func useRegistry(_ preferences: PreferencesType, _ mutable: MutablePreferencesType, data: Data) {
  enum Side: String { case left }
  Prephirences.sharedInstance = preferences
  let _: PreferencesType = Prephirences.sharedInstance
  let _: MutablePreferencesType? = Prephirences.sharedMutableInstance
  let _: PreferencesType? = Prephirences.instance(forKey: 1)
  let _: PreferencesType? = Prephirences.instance(forKey: 1, orRegister: preferences)
  let _: (PreferencesType, String) -> Void = Prephirences.registerInstance(_:forKey:)
  let _: (String) -> PreferencesType? = Prephirences.unregisterInstance(forKey:)
  let instances: PrephirencesForType<String> = Prephirences.instances()
  let _: PreferencesType? = instances["key"]
  instances["key"] = preferences
  let _: Side? = Prephirences.unraw("left")
  let _: String? = Prephirences.raw(Side.left)
  let _: PreferenceObject? = Prephirences.unarchive(fromPreferences: preferences, forKey: "key")
  Prephirences.archive(object: 1, intoPreferences: mutable, forKey: "key")
  let _: PreferenceObject? = Prephirences.unarchive(data)
  let _: Data = Prephirences.archive(1)
  Prephirences.jsonDecoder = JSONDecoder()
  Prephirences.jsonEncoder = JSONEncoder()
  let _: (JSONDecoder, JSONEncoder) = (Prephirences.jsonDecoder, Prephirences.jsonEncoder)
}

class MyRegistry: Prephirences {
  override class func instance<Key: Hashable>(
    forKey key: Key, orRegister newOne: PreferencesType? = nil
  ) -> PreferencesType? {
    super.instance(forKey: key, orRegister: newOne)
  }
  override class func registerInstance<Key: Hashable>(
    _ preferences: PreferencesType, forKey key: Key
  ) {}
  override class func unregisterInstance<Key: Hashable>(forKey key: Key) -> PreferencesType? { nil }
}
