public import Foundation

/// One value of a bundle's `Info.plist`, with a default.
///
/// ```swift
/// @BundlePreferenceValue(key: "CFBundleName", default: "tool")
/// var name: String
/// ```
///
/// The default is returned, but not stored, if the value is missing or of another type. `$name` is
/// the ``BundlePreference``.
@propertyWrapper
public struct BundlePreferenceValue<T>: @unchecked Sendable {
  // Unchecked because the default may be of any type; this object does not change.

  /// The preference.
  public let projectedValue: BundlePreference<T>

  /// The value that a read returns if there is none.
  public let defaultValue: T

  /// Creates a preference with a default.
  ///
  /// - Parameters:
  ///   - bundle: The bundle whose `Info.plist` has the key.
  ///   - key: The key.
  ///   - defaultValue: The value that a read returns if there is none.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    bundle: Bundle = .main, key: PreferenceKey,
    default defaultValue: T, transformation: (any PreferenceTransformation)? = nil
  ) {
    projectedValue = BundlePreference(bundle: bundle, key: key, transformation: transformation)
    self.defaultValue = defaultValue
  }

  /// Creates a preference whose default is the initial value of the property.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value that a read returns if there is none.
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

  /// The value or the default.
  public var wrappedValue: T { projectedValue.value ?? defaultValue }
}
