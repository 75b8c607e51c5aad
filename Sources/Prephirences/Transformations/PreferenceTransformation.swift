/// A value before a transformation stored it, of any type.
public typealias PreferenceTransformationObject = Any

/// How a value is stored: another type, an archive, encrypted, or with a default.
///
/// A conforming type gives ``transformedValue(_:)`` and ``reverseTransformedValue(_:)``. One that
/// needs the name of the key, or that must leave the stored value alone when it fails, also gives
/// ``get(_:from:)`` and ``set(_:value:to:)``; all preferences go through these two.
///
/// Whoever uses a transformation on several threads answers for its safety there.
public protocol PreferenceTransformation {
  /// Returns the value that a stored one stands for.
  ///
  /// - Parameter value: The stored value; `nil` if there is none.
  /// - Returns: The value; `nil` if there is none, or if the stored one is not understood.
  func reverseTransformedValue(_ value: PreferenceObject?) -> Any?

  /// Returns what to store for a value.
  ///
  /// - Parameter value: The value; `nil` to remove it.
  /// - Returns: What to store; `nil` removes.
  func transformedValue(_ value: Any?) -> PreferenceObject?

  /// Returns the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - preferences: Where it is stored.
  /// - Returns: The value; `nil` if there is none, or none of this type.
  func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T?

  /// Sets the value of a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value; `nil` removes.
  ///   - preferences: Where it is stored.
  func set<T>(_ key: PreferenceKey, value: T?, to preferences: any MutablePreferencesType)
}

extension PreferenceTransformation {
  /// Returns the value of a key, reversed from what is stored.
  public func get<T>(_ key: PreferenceKey, from preferences: any PreferencesType) -> T? {
    PreferenceCast.cast(reverseTransformedValue(preferences.object(forKey: key)))
  }

  /// Sets the value of a key to the transformed one.
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
