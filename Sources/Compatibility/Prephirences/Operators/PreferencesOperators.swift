// The left sides are not `inout`, although the operators assign: preferences are references to
// stored values, so they may also be constants, such as `UserDefaults.standard`.

/// Sets all keys of other preferences.
///
/// - Parameters:
///   - left: The preferences to change.
///   - right: The other preferences.
public func += (left: any MutablePreferencesType, right: any PreferencesType) {
  left.set(dictionary: right.dictionary())
}

/// Sets the values of several keys.
///
/// - Parameters:
///   - left: The preferences to change.
///   - right: The values by their keys.
public func += (left: any MutablePreferencesType, right: PreferencesDictionary) {
  left.set(dictionary: right)
}

/// Sets the values of several keys.
///
/// - Parameters:
///   - left: The preferences to change.
///   - right: Keys and values; the last value of a repeated key is used.
public func += (left: any MutablePreferencesType, right: [(PreferenceKey, PreferenceObject)]) {
  left.set(dictionary: PreferencesDictionary(right) { _, last in last })
}

/// Sets the values of keys that have no value yet.
///
/// - Parameters:
///   - left: The preferences to change.
///   - right: Keys and values; the first value of a repeated key is used.
public func ?= (left: any MutablePreferencesType, right: [(PreferenceKey, PreferenceObject)]) {
  left ?= PreferencesDictionary(right) { first, _ in first }
}

/// Sets the values of keys that have no value yet.
///
/// - Parameters:
///   - left: The preferences to change.
///   - right: The values by their keys.
public func ?= (left: any MutablePreferencesType, right: PreferencesDictionary) {
  left.set(dictionary: right.filter { !left.hasObject(forKey: $0.key) })
}

/// Removes a key and its value.
///
/// - Parameters:
///   - left: The preferences to change.
///   - right: The key.
public func -= (left: any MutablePreferencesType, right: PreferenceKey) {
  left.removeObject(forKey: right)
}

/// Returns the preference of a key.
///
/// - Parameters:
///   - preferences: The preferences that have the key.
///   - key: The key.
/// - Returns: The preference.
public func <| <T>(preferences: any PreferencesType, key: PreferenceKey) -> Preference<T> {
  Preference(preferences: preferences, key: key)
}

/// Returns the preference of a key.
///
/// - Parameters:
///   - preferences: The preferences that have the key.
///   - key: The key.
/// - Returns: The preference.
public func <| <T>(
  preferences: any MutablePreferencesType, key: PreferenceKey
) -> MutablePreference<T> {
  MutablePreference(preferences: preferences, key: key)
}

extension PreferencesType {
  /// Applies an operation to the values of two keys.
  ///
  /// - Parameters:
  ///   - key: The key of the first value.
  ///   - otherKey: The key of the second value.
  ///   - operation: Receives both values.
  /// - Returns: The result; if only one key has a value of this type, that value.
  public func operation<T>(
    on key: PreferenceKey, with otherKey: PreferenceKey, using operation: (T, T) -> T
  ) -> T? {
    combine(preference(forKey: key).value, preference(forKey: otherKey).value, operation)
  }

  /// Applies an operation to the value of a key and another value.
  ///
  /// - Parameters:
  ///   - key: The key of the first value.
  ///   - value: The second value.
  ///   - operation: Receives both values.
  /// - Returns: The result; the second value if the key has no value of this type.
  public func operation<T>(
    on key: PreferenceKey, with value: T, using operation: (T, T) -> T
  ) -> T? {
    combine(preference(forKey: key).value, value, operation)
  }
}

/// Returns the result of an operation; if only one value exists, that value.
func combine<T>(_ left: T?, _ right: T?, _ operation: (T, T) -> T) -> T? {
  guard let left else { return right }
  guard let right else { return left }
  return operation(left, right)
}
