/// A value of any type, before a transformation stores it.
public typealias PreferenceTransformationObject = Any

/// How a value is stored: as another type, an archive, encrypted, or with a default.
///
/// A conforming type implements ``transformedValue(_:)`` and ``reverseTransformedValue(_:)``. A
/// type that needs the name of the key, or must not change the stored value when it fails, also
/// implements ``get(_:from:)`` and ``set(_:value:to:)``, which all preferences call.
///
/// A program that uses a transformation on several threads is responsible for its thread safety.
public protocol PreferenceTransformation {
  /// Returns the value of a stored value.
  ///
  /// - Parameter value: The stored value; `nil` if there is none.
  /// - Returns: The value; `nil` if there is none, or if the stored value cannot be read.
  func reverseTransformedValue(_ value: PreferenceObject?) -> Any?

  /// Returns what to store for a value.
  ///
  /// - Parameter value: The value; `nil` removes the key.
  /// - Returns: The value to store; `nil` removes the key.
  func transformedValue(_ value: Any?) -> PreferenceObject?

  /// Returns the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - preferences: The preferences that store it.
  /// - Returns: The value; `nil` if there is no value of this type.
  func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T?

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value; `nil` removes the key.
  ///   - preferences: The preferences that store it.
  func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType)
}

extension PreferenceTransformation {
  /// Returns the value of a key, converted from the stored value.
  public func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T? {
    PreferenceCast.cast(reverseTransformedValue(preferences.object(forKey: key)))
  }

  /// Sets the value of a key to the converted value.
  public func set<T>(
    _ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType
  ) {
    if let stored = unwrapped(transformedValue(unwrapped(value))) {
      preferences.set(stored as PreferenceObject?, forKey: key)
    } else {
      preferences.removeObject(forKey: key)
    }
  }
}
