/// One preference that can be read.
///
/// ```swift
/// @Preference(key: "enabled")
/// var enabled: Bool?
///
/// let width: Preference<Double> = preferences <| "width"
/// if let value = width.value { print(value) }
/// ```
///
/// The value is optional, because it may be missing or of another type; with a default, use
/// ``PreferenceValue``. Numbers are converted as `NSNumber` does on Apple's systems. The
/// preferences are chosen when this object is created.
///
/// It is safe to use from several threads. In Swift 6 mode, a static variable outside a global
/// actor cannot have a wrapper: store the preference itself, or use wrapped properties in a shared
/// value.
///
/// ```swift
/// struct Settings: Sendable {
///   static let shared = Settings()
///   static let launches = MutablePreference<Int>(key: "launches")
///
///   @MutablePreference(key: "enabled")
///   var enabled: Bool?
/// }
///
/// Settings.shared.enabled = true
/// Settings.launches.value = 1
/// ```
@propertyWrapper
open class Preference<T>: @unchecked Sendable {
  // Unchecked because preferences need not be `Sendable`: the mutable state here is behind a lock,
  // and the preferences are responsible for theirs.

  /// The key.
  public let key: PreferenceKey

  /// The preferences that have the key.
  public let preferences: any PreferencesType

  private let guarded: Guarded<any PreferenceTransformation>

  /// How the value is stored.
  open var transformation: any PreferenceTransformation {
    get { guarded.current }
    set { guarded.current = newValue }
  }

  /// Creates a preference.
  ///
  /// - Parameters:
  ///   - preferences: The preferences that have the key.
  ///   - key: The key.
  ///   - transformation: How the value is stored. If it is `nil`, types of property lists are
  ///     stored unchanged, a `RawRepresentable` value as its raw value, a `Codable` value as JSON
  ///     data, and any other value unchanged.
  public init(
    preferences: any PreferencesType, key: PreferenceKey,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.preferences = preferences
    self.key = key
    guarded = Guarded(transformation ?? DefaultTransformation.of(T.self))
  }

  /// The value; `nil` if there is no value of this type.
  open var value: T? { transformation.get(key, from: preferences) }

  /// The value; `nil` if there is no value of this type.
  open var wrappedValue: T? { value }

  /// The preference itself.
  open var projectedValue: Preference<T> { self }

  /// Whether the key has a value of any type.
  open var hasValue: Bool { preferences.hasObject(forKey: key) }

  /// Whether there is no value of this type and no default.
  open var isEmpty: Bool { value == nil }
}

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
