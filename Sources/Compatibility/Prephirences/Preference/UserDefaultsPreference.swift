public import Foundation

/// One preference in `UserDefaults`.
///
/// ```swift
/// @UserDefaultsPreference(key: "my.string.pref")
/// var pref: String?
/// ```
@propertyWrapper
open class UserDefaultsPreference<T>: MutablePreference<T>, @unchecked Sendable {
  // Unchecked like the superclass.

  /// Creates a preference.
  ///
  /// - Parameters:
  ///   - userDefaults: The defaults that have the key.
  ///   - key: The key.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    userDefaults: UserDefaults = .standard, key: PreferenceKey,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    super.init(preferences: userDefaults, key: key, transformation: transformation)
  }

  /// The value, or `nil` if there is no value of this type; setting `nil` removes the key.
  open override var wrappedValue: T? {
    get { value }
    set { value = newValue }
  }

  /// The preference itself.
  open override var projectedValue: UserDefaultsPreference<T> { self }
}
