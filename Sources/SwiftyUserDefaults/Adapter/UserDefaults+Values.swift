public import Foundation
internal import Prephirences

extension UserDefaults {
  /// Returns the value of a key, or its default; an unreadable value is recorded.
  @usableFromInline
  func value<T>(of key: DefaultsKey<T>) -> T.T {
    switch T._defaults._read(key: key._key, userDefaults: self) {
    case .value(let value): return value
    case .absent: return key.missing
    case .unreadable:
      didRefuse(.unreadable(key._key, T.self), forKey: key._key)
      return key.missing
    }
  }

  /// Sets the value of a key, and saves it.
  @usableFromInline
  func setValue<T>(_ value: T.T, of key: DefaultsKey<T>) {
    T._defaults._write(key: key._key, value: value, userDefaults: self)
  }

  /// Changes the value of a key in place.
  ///
  /// If the value could not be read, a change of the default would overwrite it; nothing is written
  /// then.
  func readForChange<T>(_ key: DefaultsKey<T>) -> (value: T.T, isWritable: Bool) {
    do {
      _ = try fetchObject(forKey: key._key)
    } catch {
      didRefuse(.unchanged(key._key, error), forKey: key._key)
      return (key.missing, false)
    }
    switch T._defaults._read(key: key._key, userDefaults: self) {
    case .value(let value): return (value, true)
    case .absent: return (key.missing, true)
    case .unreadable:
      didRefuse(.unreadable(key._key, T.self), forKey: key._key)
      return (key.missing, false)
    }
  }
}
