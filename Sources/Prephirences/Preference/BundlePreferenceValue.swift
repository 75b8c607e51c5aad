public import Foundation

/// One value of a bundle's `Info.plist`, with a default.
///
/// ```swift
/// @BundlePreferenceValue(key: "CFBundleName", default: "tool")
/// var name: String
/// ```
///
/// The default is read, and not stored, where there is no value or one of another type.
/// `$name` is the ``BundlePreference``.
@propertyWrapper
public struct BundlePreferenceValue<T>: @unchecked Sendable {
  // Unchecked because the default may be of any type; nothing here changes.

  /// The preference.
  public let projectedValue: BundlePreference<T>

  /// What is read where there is no value.
  public let defaultValue: T

  /// Makes a preference with a default.
  ///
  /// - Parameters:
  ///   - bundle: The bundle whose `Info.plist` has the key.
  ///   - key: The key.
  ///   - defaultValue: What is read where there is no value.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    bundle: Bundle = .main, key: PreferenceKey,
    default defaultValue: T, transformation: (any PreferenceTransformation)? = nil
  ) {
    projectedValue = BundlePreference(bundle: bundle, key: key, transformation: transformation)
    self.defaultValue = defaultValue
  }

  /// Makes a preference whose default is the initial value of the property.
  ///
  /// - Parameters:
  ///   - wrappedValue: What is read where there is no value.
  ///   - bundle: The bundle whose `Info.plist` has the key.
  ///   - key: The key.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    wrappedValue: T, bundle: Bundle = .main,
    key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      bundle: bundle, key: key, default: wrappedValue, transformation: transformation)
  }

  /// The value, or the default.
  public var wrappedValue: T { projectedValue.value ?? defaultValue }
}
