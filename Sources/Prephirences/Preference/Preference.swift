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
/// The value is optional, as the preferences may have none for the key, or one of another type; with
/// a default it is a ``PreferenceValue``. Numbers are converted as `NSNumber` does on Apple's
/// systems. The preferences are those of the moment at which it was made.
///
/// Any number of threads may use one. In Swift 6 mode no wrapper can be on a static variable outside
/// a global actor: keep the preference itself, or properties with wrappers in a shared value.
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
  // Unchecked because preferences are not all `Sendable`: what changes here is behind a lock, and
  // the preferences answer for themselves.

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

  /// How the value is stored, by name.
  open var transformationKey: TransformationKey {
    get { TransformationKey(transformation) }
    set { transformation = newValue }
  }

  /// Makes a preference.
  ///
  /// - Parameters:
  ///   - preferences: The preferences that have the key.
  ///   - key: The key.
  ///   - transformation: How the value is stored. If it is `nil`, a `RawRepresentable` value is
  ///     stored as its raw value and a `Codable` one as JSON data, if it is not of a type that
  ///     property lists have; any other as it is.
  public init(
    preferences: any PreferencesType = Prephirences.sharedInstance, key: PreferenceKey,
    transformation: (any PreferenceTransformation)? = nil
  ) {
    self.preferences = preferences
    self.key = key
    guarded = Guarded(transformation ?? DefaultTransformation.of(T.self))
  }

  /// The value; `nil` if there is none of this type.
  open var value: T? { transformation.get(key, from: preferences) }

  /// The value; `nil` if there is none of this type.
  open var wrappedValue: T? { value }

  /// The preference itself.
  open var projectedValue: Preference<T> { self }

  /// Whether the key has a value, of whatever type.
  open var hasValue: Bool { preferences.hasObject(forKey: key) }

  /// Whether there is no value of this type, nor a default.
  open var isEmpty: Bool { value == nil }
}
