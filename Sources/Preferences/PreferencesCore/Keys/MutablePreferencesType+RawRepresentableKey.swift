public import FoundationEssentials

extension MutablePreferencesType {
  /// Sets the value of a key given as an enumeration case; `nil` removes the key.
  public func set<Key: RawRepresentable>(
    _ value: PreferenceObject?, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to an integer.
  public func set<Key: RawRepresentable>(
    _ value: Int, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to a number in single precision.
  public func set<Key: RawRepresentable>(
    _ value: Float, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to a number.
  public func set<Key: RawRepresentable>(
    _ value: Double, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to a truth value.
  public func set<Key: RawRepresentable>(
    _ value: Bool, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to a URL; `nil` removes the key.
  public func set<Key: RawRepresentable>(
    _ value: URL?, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(value, forKey: key.rawValue) }

  /// Sets the value of a key given as an enumeration case to the raw value of a value; `nil`
  /// removes the key.
  public func set<Value: RawRepresentable, Key: RawRepresentable>(
    rawValue value: Value?, rawRepresentableKey key: Key
  ) where Key.RawValue == PreferenceKey { set(rawValue: value, forKey: key.rawValue) }

  /// Removes a key given as an enumeration case, and its value.
  public func removeObject<Key: RawRepresentable>(
    forKey key: Key
  ) where Key.RawValue == PreferenceKey { removeObject(forKey: key.rawValue) }
}
