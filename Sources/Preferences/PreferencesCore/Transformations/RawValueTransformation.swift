/// Stores values as their raw values.
struct RawValueTransformation<Value: RawRepresentable>: PreferenceTransformation {
  func reverseTransformedValue(_ value: PreferenceObject?) -> Any? {
    if let value = value as? Value { return value }
    return PreferenceCast.cast(value, to: Value.RawValue.self).flatMap(Value.init(rawValue:))
  }

  func transformedValue(_ value: Any?) -> PreferenceObject? {
    (value as? Value)?.rawValue
  }

  func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType) {
    guard let value = unwrapped(value) else { return preferences.removeObject(forKey: key) }
    // A value of another type must not remove the stored one.
    guard let rawValue = transformedValue(value) else {
      return preferences.didRefuse(.untransformable(key, type(of: value)), forKey: key)
    }
    preferences.set(rawValue as PreferenceObject?, forKey: key)
  }
}

extension RawRepresentable {
  /// Stores values as their raw values.
  public static var preferenceTransformation: any PreferenceTransformation {
    RawValueTransformation<Self>()
  }
}

extension PreferencesType {
  /// Returns the value of a key whose raw value is stored.
  ///
  /// - Parameter key: The key.
  /// - Returns: The value; `nil` if no value has the stored raw value.
  public func rawRepresentable<T: RawRepresentable>(forKey key: PreferenceKey) -> T? {
    RawValueTransformation<T>().get(key, from: self)
  }
}

extension MutablePreferencesType {
  /// Sets the value of a key to the raw value of a value.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key.
  ///   - key: The key.
  public func set<T: RawRepresentable>(rawValue value: T?, forKey key: PreferenceKey) {
    RawValueTransformation<T>().set(key, value: value, to: self)
  }
}
