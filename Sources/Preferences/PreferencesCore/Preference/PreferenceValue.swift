/// One preference that can be read, with a default.
///
/// ```swift
/// @PreferenceValue(key: "width", default: 80)
/// var width: Int
///
/// @PreferenceValue(key: "title")
/// var title = "untitled"
/// ```
///
/// The default is returned, but not stored, if the value is missing or of another type. `$width` is
/// the ``Preference``.
@propertyWrapper
public struct PreferenceValue<T>: @unchecked Sendable {
  // Unchecked because the default may be of any type; this object does not change.

  /// The preference.
  public let projectedValue: Preference<T>

  /// The value that a read returns if there is none.
  public let defaultValue: T

  /// Creates a preference with a default.
  ///
  /// - Parameters:
  ///   - preferences: The preferences that have the key.
  ///   - key: The key.
  ///   - defaultValue: The value that a read returns if there is none.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    preferences: any PreferencesType, key: PreferenceKey,
    default defaultValue: T, transformation: (any PreferenceTransformation)? = nil
  ) {
    projectedValue = Preference(preferences: preferences, key: key, transformation: transformation)
    self.defaultValue = defaultValue
  }

  /// Creates a preference whose default is the initial value of the property.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value that a read returns if there is none.
  ///   - preferences: The preferences that have the key.
  ///   - key: The key.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    wrappedValue: T, preferences: any PreferencesType,
    key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      preferences: preferences, key: key, default: wrappedValue, transformation: transformation)
  }

  /// The value or the default.
  public var wrappedValue: T { projectedValue.value ?? defaultValue }
}
