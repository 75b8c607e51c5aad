public import Foundation
internal import Prephirences

extension UserDefaults {
  /// Returns the value of a key, or its default; an unreadable value is recorded.
  @inlinable
  func value<T>(of key: DefaultsKey<T>) -> T.T {
    switch T._defaults._read(key: key._key, userDefaults: self) {
    case .value(let value): return value
    case .absent: return key.missing
    case .unreadable:
      didFindUnreadable(key)
      return key.missing
    }
  }

  /// Sets the value of a key, and saves it.
  @inlinable
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
    case .value(let value):
      guard !isShortened(value, key._key) else {
        didRefuse(.shortened(key._key), forKey: key._key)
        return (value, false)
      }
      return (value, true)
    case .absent: return (key.missing, true)
    case .unreadable:
      didFindUnreadable(key)
      return (key.missing, false)
    }
  }

  /// Returns whether an array was read without some of its elements, such as raw values that only a
  /// newer release has; a change in place would remove them.
  private func isShortened(_ value: Any, _ key: String) -> Bool {
    guard let elements = unwrapped(value) as? [Any], let stored = preferenceArray(forKey: key)
    else { return false }
    return elements.count < stored.count
  }

  /// Records that the stored value of a key cannot be read, and why.
  @usableFromInline
  func didFindUnreadable<T>(_ key: DefaultsKey<T>) {
    var error = PreferencesError.unreadable(key._key, T.self)
    if let type = T.T.self as? any Decodable.Type,
      let data = preferenceObject(forKey: key._key) as? Data
    {
      do throws(PreferencesError) {
        _ = try CodableForm.decode(type, from: data, forKey: key._key)
      } catch let cause {
        error = cause
      }
    }
    didRefuse(error, forKey: key._key)
  }
}
