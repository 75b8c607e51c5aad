internal import Foundation
internal import Prephirences

/// Properties that are preferences.
final class Properties {
  var k0: Int? = 0
  var k1: Int? = 1
  var k2: Int? = 2
  var k3: Int?
}

struct Reflected: ReflectingPreferences, Sendable {
  var k0 = 1
  var text: String? = "text"
}

/// Makes `UserDefaults` `Sendable`; Foundation allows use by several threads without declaring it.
final class SendableDefaults: MutablePreferencesType, @unchecked Sendable {
  private let defaults: UserDefaults

  init(_ defaults: UserDefaults) { self.defaults = defaults }

  private var preferences: any MutablePreferencesType { defaults }

  func object(forKey key: PreferenceKey) -> PreferenceObject? { preferences.object(forKey: key) }
  func dictionary() -> PreferencesDictionary { preferences.dictionary() }
  func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    preferences.set(value, forKey: key)
  }
  func removeObject(forKey key: PreferenceKey) { preferences.removeObject(forKey: key) }
  func clearAll() { preferences.clearAll() }
}

struct SendableBundle: PreferencesType, Sendable {
  func object(forKey key: PreferenceKey) -> PreferenceObject? { Bundle.main.object(forKey: key) }
  func dictionary() -> PreferencesDictionary { Bundle.main.dictionary() }
}
