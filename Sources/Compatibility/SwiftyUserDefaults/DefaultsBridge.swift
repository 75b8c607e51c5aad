public import Foundation
public import Prephirences

/// Reads and writes the values of one type.
///
/// A bridge of your own reads and writes with the methods of `UserDefaults`; it can use several
/// keys. If the value is stored under its key alone, conform to ``DefaultsSerializingBridge``,
/// which needs less.
public protocol DefaultsBridge {
  /// The type of the values.
  associatedtype T

  /// Returns the value of a key; `nil` if there is none of this type.
  func get(key: String, userDefaults: UserDefaults) -> T?

  /// Sets the value of a key; `nil` removes the key.
  func save(key: String, value: T?, userDefaults: UserDefaults)

  /// Returns the value of an object of a property list, or `nil`; observers need it.
  func deserialize(_ object: Any) -> T?

  /// Reads a key, and distinguishes a missing value from an unreadable one.
  ///
  /// Bridges need not implement it, because there is a default.
  func _read(key: String, userDefaults: UserDefaults) -> DefaultsReading<T>

  /// Sets a key, and saves the change; `nil` removes the key.
  ///
  /// Bridges need not implement it, because there is a default.
  func _write(key: String, value: T?, userDefaults: UserDefaults)

  /// Returns the object that represents a value; `nil` if the bridge stores nothing for it.
  ///
  /// Bridges need not implement it, because there is a default.
  ///
  /// - Throws: The bridge's own error if the value cannot be represented.
  func _object(for value: T) throws -> Any?
}

/// What a bridge has read.
public enum DefaultsReading<Value> {
  /// The key has no value.
  case absent

  /// The value of the key.
  case value(Value)

  /// The key has a value that the bridge cannot read.
  case unreadable
}

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
