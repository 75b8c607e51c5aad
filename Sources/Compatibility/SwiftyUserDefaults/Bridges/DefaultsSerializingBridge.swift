public import Foundation
public import Prephirences

/// A bridge that converts values to objects of a property list and back.
///
/// ```swift
/// struct Frog { var name: String }
///
/// struct FrogBridge: DefaultsSerializingBridge {
///   func serialize(_ frog: Frog) -> Any { frog.name }
///   func deserialize(_ object: Any) -> Frog? { (object as? String).map(Frog.init) }
/// }
/// ```
public protocol DefaultsSerializingBridge: DefaultsBridge {
  /// Returns the object of a property list that represents a value.
  ///
  /// - Parameter value: The value.
  /// - Returns: Text, a truth value, a number, data, a date, a URL, or an array or a dictionary of
  ///   these.
  /// - Throws: Any error if the value cannot be represented; nothing is then stored.
  func serialize(_ value: T) throws -> Any
}

extension DefaultsSerializingBridge {
  /// Returns the value of a key.
  @inlinable public func get(key: String, userDefaults: UserDefaults) -> T? {
    userDefaults.preferenceObject(forKey: key).flatMap(deserialize)
  }

  /// Sets the value of a key, and saves it.
  ///
  /// If the value cannot be represented, the old one stays, and `lastPreferencesError` has the
  /// reason.
  @inlinable public func save(key: String, value: T?, userDefaults: UserDefaults) {
    guard let value else { return userDefaults.removePreference(forKey: key) }
    do {
      userDefaults.setPreference(try serialize(value) as Any?, forKey: key)
    } catch {
      userDefaults.didRefuse(error, T.self, key)
    }
  }

  /// Reads a key once.
  @inlinable public func _read(key: String, userDefaults: UserDefaults) -> DefaultsReading<T> {
    guard let object = userDefaults.preferenceObject(forKey: key) else { return .absent }
    return deserialize(object).map(DefaultsReading.value) ?? .unreadable
  }

  /// Sets a key with ``DefaultsBridge/save(key:value:userDefaults:)``, which saves.
  @inlinable public func _write(key: String, value: T?, userDefaults: UserDefaults) {
    save(key: key, value: value, userDefaults: userDefaults)
  }

  /// Returns the object of a value.
  public func _object(for value: T) throws -> Any? { try serialize(value) }
}

extension UserDefaults {
  /// Records that a bridge could not represent a value.
  @usableFromInline
  func didRefuse(_ error: any Error, _ type: Any.Type, _ key: String) {
    didRefuse(.refused(key, type, error), forKey: key)
  }
}
