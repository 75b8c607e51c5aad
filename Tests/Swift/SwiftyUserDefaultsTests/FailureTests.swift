import Foundation
import Prephirences
import SwiftyUserDefaults
import Testing

/// Preferences that cannot be read while they are locked.
private final class LockedPreferences: FalliblePreferencesType {
  let values = MutableDictionaryPreferences(dictionary: ["count": 41, "list": ["a"]])
  var isLocked = false

  func object(forKey key: PreferenceKey) -> PreferenceObject? { try? fetchObject(forKey: key) }

  func dictionary() -> PreferencesDictionary { isLocked ? [:] : values.dictionary() }

  func set(_ value: PreferenceObject?, forKey key: PreferenceKey) { values[key] = value }

  func removeObject(forKey key: PreferenceKey) { values.removeObject(forKey: key) }

  func fetchObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    if isLocked { throw PreferencesError(.inputOutput, "the store is locked") }
    return values.object(forKey: key)
  }

  func storeObject(_ value: PreferenceObject?, forKey key: PreferenceKey) { values[key] = value }
}

@Suite struct FailureTests {
  @Test func changeAfterFailedReadWritesNothing() {
    let store = LockedPreferences()
    let defaults = DefaultsAdapter(preferences: store, keyStore: DefaultsKeys())
    store.isLocked = true
    defaults.count += 1
    #expect(defaults.lastPreferencesError?.message.contains("count") == true)
    defaults[\.list].append("b")
    defaults[key: DefaultsKeys().count] += 1
    defaults.defaults[DefaultsKeys().count] += 1
    let wrapper = SwiftyUserDefault(keyPath: \.count, adapter: defaults)
    wrapper.wrappedValue += 1
    #expect(store.values.integer(forKey: "count") == 41)
    #expect(store.values.stringArray(forKey: "list") == ["a"])
    store.isLocked = false
    defaults.count += 1
    #expect(defaults.count == 42)
    #expect(defaults.lastPreferencesError == nil)
  }

  @Test func undecodableValueStaysAndIsReported() {
    let defaults = makeAdapter()
    defaults.defaults.setPreference(Data("{}".utf8), forKey: "points")
    #expect(defaults.points.isEmpty)
    #expect(defaults.lastPreferencesError?.code == .typeMismatch)
    defaults.points.append(Point(x: 1, y: 1))
    #expect(defaults.defaults.preferenceData(forKey: "points") == Data("{}".utf8))
    defaults.points = [Point(x: 1, y: 1)]
    #expect(defaults.points.count == 1)
    #expect(defaults.lastPreferencesError == nil)
  }

  @Test func changesKeepElementsOfNewerReleases() {
    let defaults = makeAdapter()
    defaults.defaults.setPreference(["left", "up"], forKey: "sides")
    #expect(defaults.sides == [.left])
    defaults.sides.append(.right)
    #expect(defaults.lastPreferencesError?.code == .typeMismatch)
    #expect(defaults.defaults.preferenceStringArray(forKey: "sides") == ["left", "up"])
    defaults.sides = [.left, .right]
    defaults.sides.append(.right)
    #expect(defaults.sides == [.left, .right, .right])
    #expect(defaults.lastPreferencesError == nil)
  }

  @Test func failedEncodingKeepsTheOldValue() {
    let defaults = makeAdapter()
    defaults.point = Point(x: 1, y: 1)
    defaults.point = Point(x: 1, y: .infinity)
    #expect(defaults.lastPreferencesError?.code == .unstorable)
    #expect(defaults.point == Point(x: 1, y: 1))
  }

  @Test func unsupportedValuesAreRefused() {
    struct Opaque: DefaultsSerializable {
      static var _defaults: DefaultsKeyedArchiverBridge<Opaque> { .init() }
      static var _defaultsArray: DefaultsKeyedArchiverBridge<[Opaque]> { .init() }
    }
    let defaults = makeAdapter()
    defaults[key: DefaultsKey<Opaque?>("key")] = Opaque()
    #expect(defaults.lastPreferencesError?.code == .unstorable)
    defaults[key: DefaultsKey<[String: Any]?>("key")] = ["a": Opaque()]
    #expect(defaults.lastPreferencesError?.code == .unstorable)
    #expect(!defaults.hasKey(DefaultsKey<Opaque?>("key")))
  }

  @Test func messagesHaveNoValue() {
    let defaults = makeAdapter()
    defaults.defaults.setPreference("hunter2", forKey: "count")
    _ = defaults.count
    let message = defaults.lastPreferencesError?.message ?? ""
    #expect(message.contains("count"))
    #expect(!message.contains("hunter2"))
  }

  @Test func garbageIsNotAnArchive() {
    let defaults = makeAdapter()
    defaults.defaults.setPreference(Data([1, 2, 3]), forKey: "badge")
    #expect(defaults.badge == nil)
    #expect(defaults.lastPreferencesError?.code == .typeMismatch)
  }
}
