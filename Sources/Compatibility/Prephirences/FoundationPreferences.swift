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

  /// Creates a preference; see ``Preference/init(preferences:key:transformation:)``.
  public init(
    bundle: Bundle = .main, key: PreferenceKey,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    super.init(preferences: bundle, key: key, transformation: transformation)
  }

  /// Creates a preference for one of Core Foundation's keys; see
  /// ``Preference/init(preferences:key:transformation:)``.
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

/// One value of a bundle's `Info.plist`, with a default.
///
/// ```swift
/// @BundlePreferenceWithDefault(key: "CFBundleName", default: "tool")
/// var name: String
/// ```
///
/// The default is returned, but not stored, if the value is missing or of another type. `$name` is
/// the ``BundlePreference``.
@propertyWrapper
public struct BundlePreferenceWithDefault<T>: @unchecked Sendable {
  // Unchecked because the default may be of any type; this object does not change.

  /// The preference.
  public let projectedValue: BundlePreference<T>

  /// The value that a read returns if there is none.
  public let defaultValue: T

  /// Creates a preference with a default; see ``Preference/init(preferences:key:transformation:)``.
  public init(
    bundle: Bundle = .main, key: PreferenceKey,
    default defaultValue: T, transformation: (any PreferenceTransformation)? = nil
  ) {
    projectedValue = BundlePreference(bundle: bundle, key: key, transformation: transformation)
    self.defaultValue = defaultValue
  }

  /// Creates a preference whose default is the initial value of the property; see
  /// ``Preference/init(preferences:key:transformation:)``.
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

/// One preference in `UserDefaults`.
///
/// ```swift
/// @UserDefaultsPreference(key: "my.string.pref")
/// var pref: String?
/// ```
@propertyWrapper
open class UserDefaultsPreference<T>: MutablePreference<T>, @unchecked Sendable {
  // Unchecked like the superclass.

  /// Creates a preference; see ``Preference/init(preferences:key:transformation:)``.
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

/// One preference in `UserDefaults`, with a default.
///
/// ```swift
/// @UserDefaultsPreferenceWithDefault(key: "width", default: 80)
/// var width: Int
///
/// @UserDefaultsPreferenceWithDefault(key: "title")
/// var title = "untitled"
/// ```
///
/// The default is returned, but not stored, if the value is missing or of another type. `$width` is
/// the ``UserDefaultsPreference``, which can also be cleared.
@propertyWrapper
public struct UserDefaultsPreferenceWithDefault<T>: @unchecked Sendable {
  // Unchecked because the default may be of any type; this object does not change.

  /// The preference.
  public let projectedValue: UserDefaultsPreference<T>

  /// The value that a read returns if there is none.
  public let defaultValue: T

  /// Creates a preference with a default; see ``Preference/init(preferences:key:transformation:)``.
  public init(
    userDefaults: UserDefaults = .standard, key: PreferenceKey,
    default defaultValue: T, transformation: (any PreferenceTransformation)? = nil
  ) {
    projectedValue = UserDefaultsPreference(
      userDefaults: userDefaults, key: key, transformation: transformation)
    self.defaultValue = defaultValue
  }

  /// Creates a preference whose default is the initial value of the property; see
  /// ``Preference/init(preferences:key:transformation:)``.
  public init(
    wrappedValue: T, userDefaults: UserDefaults = .standard,
    key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      userDefaults: userDefaults, key: key, default: wrappedValue, transformation: transformation)
  }

  /// The value or the default.
  public var wrappedValue: T {
    get { projectedValue.value ?? defaultValue }
    nonmutating set { projectedValue.value = newValue }
  }
}

// Wrappers without preferences, as in `@Preference(key: "width")`, use the shared instance.

extension Preference {
  /// Creates a preference of ``Prephirences/sharedInstance``; see
  /// ``init(preferences:key:transformation:)``.
  public convenience init(
    key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      preferences: Prephirences.sharedInstance, key: key, transformation: transformation)
  }

  /// The name of the transformation.
  public var transformationKey: TransformationKey {
    get { TransformationKey(transformation) }
    set { transformation = newValue }
  }
}

extension PreferenceWithDefault {
  /// Creates a preference of ``Prephirences/sharedInstance`` with a default.
  public init(
    key: PreferenceKey, default defaultValue: T,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      preferences: Prephirences.sharedInstance, key: key, default: defaultValue,
      transformation: transformation)
  }

  /// Creates a preference of ``Prephirences/sharedInstance`` whose default is the initial value of
  /// the property.
  public init(
    wrappedValue: T, key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(key: key, default: wrappedValue, transformation: transformation)
  }
}

extension MutablePreference {
  // The first parameter only distinguishes this initializer from the superclass's, which an
  // extension cannot override.

  /// Creates a preference of ``Prephirences/sharedMutableInstance``, or of `UserDefaults.standard`
  /// if that is read-only.
  public convenience init(
    of registry: Prephirences.Type = Prephirences.self, key: PreferenceKey,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      preferences: registry.sharedMutableInstance ?? UserDefaults.standard, key: key,
      transformation: transformation)
  }
}

extension MutablePreferenceWithDefault {
  /// Creates a preference with a default, of ``Prephirences/sharedMutableInstance``, or of
  /// `UserDefaults.standard` if that is read-only.
  public init(
    key: PreferenceKey, default defaultValue: T,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      preferences: Prephirences.sharedMutableInstance ?? UserDefaults.standard, key: key,
      default: defaultValue, transformation: transformation)
  }

  /// Creates a preference whose default is the initial value of the property; see
  /// ``init(key:default:transformation:)``.
  public init(
    wrappedValue: T, key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(key: key, default: wrappedValue, transformation: transformation)
  }
}
