public import Foundation

extension MutablePreferencesType {
  /// Sets the value of a key that is a raw value; `nil` removes.
  public func set<Key: RawRepresentable>(
    _ value: PreferenceObject?, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key that is a raw value to an integer.
  public func set<Key: RawRepresentable>(
    _ value: Int, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key that is a raw value to a number in single precision.
  public func set<Key: RawRepresentable>(
    _ value: Float, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key that is a raw value to a number.
  public func set<Key: RawRepresentable>(
    _ value: Double, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key that is a raw value to a truth value.
  public func set<Key: RawRepresentable>(
    _ value: Bool, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key that is a raw value to a URL; `nil` removes.
  public func set<Key: RawRepresentable>(
    _ value: URL?, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key that is a raw value to one that is a raw value, too; `nil` removes.
  public func set<Value: RawRepresentable, Key: RawRepresentable>(
    rawValue value: Value?, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(rawValue: value, forKey: key.rawValue) }

  /// Removes a key that is a raw value, with its value.
  public func removeObject<Key: RawRepresentable>(
    forKey key: Key
  ) where Key.RawValue == PreferenceKey { removeObject(forKey: key.rawValue) }
}
