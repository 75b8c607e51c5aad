public import Foundation

/// Reads and writes the values of one type.
///
/// A bridge of your own reads and writes with the methods of `UserDefaults`; it can use several
/// keys. If the value is stored under its key alone, conform to ``DefaultsSerializingBridge``, which
/// needs less.
public protocol DefaultsBridge {
  /// The type of the values.
  associatedtype T

  /// Returns the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - userDefaults: The store.
  /// - Returns: The value; `nil` if there is none, or if it is not of this type.
  func get(key: String, userDefaults: UserDefaults) -> T?

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value; `nil` removes the key.
  ///   - userDefaults: The store.
  func save(key: String, value: T?, userDefaults: UserDefaults)

  /// Returns the value that an object of a property list represents; observers need it.
  ///
  /// - Parameter object: The object.
  /// - Returns: The value; `nil` if the object does not represent one.
  func deserialize(_ object: Any) -> T?

  /// Reads a key, and distinguishes a missing value from an unreadable one.
  ///
  /// There is a default; bridges need not implement it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - userDefaults: The store.
  /// - Returns: What was read.
  func _read(key: String, userDefaults: UserDefaults) -> DefaultsReading<T>

  /// Sets a key, and saves the change.
  ///
  /// There is a default; bridges need not implement it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value; `nil` removes the key.
  ///   - userDefaults: The store.
  func _write(key: String, value: T?, userDefaults: UserDefaults)

  /// Returns the object of a property list that represents a value.
  ///
  /// There is a default; bridges need not implement it.
  ///
  /// - Parameter value: The value.
  /// - Returns: The object; `nil` if the bridge stores nothing for this value.
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
