public import Foundation
internal import Prephirences

extension DefaultsBridge {
  /// Reads a key with ``get(key:userDefaults:)``.
  public func _read(key: String, userDefaults: UserDefaults) -> DefaultsReading<T> {
    if let value = get(key: key, userDefaults: userDefaults) { return .value(value) }
    return userDefaults.hasObject(forKey: key) ? .unreadable : .absent
  }

  /// Sets a key with ``save(key:value:userDefaults:)``, and saves what it has written.
  public func _write(key: String, value: T?, userDefaults: UserDefaults) {
    userDefaults.saveChanges(forKeys: [key]) {
      save(key: key, value: value, userDefaults: userDefaults)
    }
  }

  /// Returns what ``save(key:value:userDefaults:)`` writes to an empty store.
  public func _object(for value: T) throws -> Any? {
    let store = MutableDictionaryPreferences(dictionary: [:])
    save(key: "value", value: value, userDefaults: BackedUserDefaults(preferences: store))
    return store.object(forKey: "value")
  }
}
