public import Foundation

/// Stores an optional value with the bridge of its value; `nil` removes the key.
public struct DefaultsOptionalBridge<Bridge: DefaultsBridge>: DefaultsBridge {
  /// The type of the values.
  public typealias T = Bridge.T?

  @usableFromInline let bridge: Bridge

  @inlinable init(bridge: Bridge) { self.bridge = bridge }

  /// Returns the value of a key.
  public func get(key: String, userDefaults: UserDefaults) -> T? {
    bridge.get(key: key, userDefaults: userDefaults)
  }

  /// Sets the value of a key; `nil` removes the key.
  @inlinable public func save(key: String, value: T?, userDefaults: UserDefaults) {
    bridge.save(key: key, value: value ?? nil, userDefaults: userDefaults)
  }

  /// Returns the value that an object of a property list represents.
  public func deserialize(_ object: Any) -> T? { bridge.deserialize(object) }

  /// Reads a key with the bridge of the value.
  @inlinable public func _read(key: String, userDefaults: UserDefaults) -> DefaultsReading<T> {
    switch bridge._read(key: key, userDefaults: userDefaults) {
    case .absent: .absent
    case .value(let value): .value(value)
    case .unreadable: .unreadable
    }
  }

  /// Sets a key with the bridge of the value.
  @inlinable public func _write(key: String, value: T?, userDefaults: UserDefaults) {
    bridge._write(key: key, value: value ?? nil, userDefaults: userDefaults)
  }

  /// Returns the object of the value; `nil` if there is none.
  public func _object(for value: T) throws -> Any? { try value.flatMap(bridge._object) }
}
