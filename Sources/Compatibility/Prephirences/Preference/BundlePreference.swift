public import Foundation

/// One value of a bundle's `Info.plist`.
///
/// ```swift
/// @BundlePreference(key: "CFBundleName")
/// var name: String?
/// ```
@propertyWrapper
open class BundlePreference<T>: Preference<T>, @unchecked Sendable {
  // Unchecked like the superclass.

  /// Creates a preference.
  ///
  /// - Parameters:
  ///   - bundle: The bundle whose `Info.plist` has the key.
  ///   - key: The key.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    bundle: Bundle = .main, key: PreferenceKey,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    super.init(preferences: bundle, key: key, transformation: transformation)
  }

  /// Creates a preference for one of Core Foundation's keys.
  ///
  /// - Parameters:
  ///   - bundle: The bundle whose `Info.plist` has the key.
  ///   - coreFoundationKeys: The key.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public convenience init(
    bundle: Bundle = .main, coreFoundationKeys: CoreFoundationKeys,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(bundle: bundle, key: coreFoundationKeys.rawValue, transformation: transformation)
  }

  /// The value, or `nil` if there is no value of this type.
  open override var wrappedValue: T? { value }

  /// The preference itself.
  open override var projectedValue: BundlePreference<T> { self }
}
