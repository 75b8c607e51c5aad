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
/// ``PreferenceWithDefault``. Numbers are converted as `NSNumber` does on Apple's systems. The
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
  /// - Parameter transformation: How the value is stored. If it is `nil`, types of property lists
  ///   are stored unchanged, a `RawRepresentable` value as its raw value, a `Codable` value as JSON
  ///   data, and any other value unchanged.
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
/// @PreferenceWithDefault(key: "width", default: 80)
/// var width: Int
///
/// @PreferenceWithDefault(key: "title")
/// var title = "untitled"
/// ```
///
/// The default is returned, but not stored, if the value is missing or of another type. `$width` is
/// the ``Preference``.
@propertyWrapper
public struct PreferenceWithDefault<T>: @unchecked Sendable {
  // Unchecked because the default may be of any type; this object does not change.

  /// The preference.
  public let projectedValue: Preference<T>

  /// The value that a read returns if there is none.
  public let defaultValue: T

  /// Creates a preference with a default; see ``Preference/init(preferences:key:transformation:)``.
  public init(
    preferences: any PreferencesType, key: PreferenceKey,
    default defaultValue: T, transformation: (any PreferenceTransformation)? = nil
  ) {
    projectedValue = Preference(preferences: preferences, key: key, transformation: transformation)
    self.defaultValue = defaultValue
  }

  /// Creates a preference whose default is the initial value of the property; see
  /// ``Preference/init(preferences:key:transformation:)``.
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

/// One preference that can be read and changed.
///
/// ```swift
/// @MutablePreference(preferences: UserDefaults.standard, key: "enabled")
/// var enabled: Bool?
///
/// var count: MutablePreference<Int> = preferences <| "count"
/// count += 1
/// ```
///
/// Setting `nil` removes the key. Changing a value based on the old one (``apply(_:)``, the
/// operators) reads first and then writes: another thread may write in between.
@propertyWrapper
open class MutablePreference<T>: Preference<T>, @unchecked Sendable {
  // Unchecked like the superclass.

  /// Receives the present value and the previous one.
  public typealias DidSetFunction = (_ newValue: T?, _ oldValue: T?) -> Void

  let mutablePreferences: any MutablePreferencesType

  private let guarded = Guarded<DidSetFunction?>(nil)

  /// Called after this object has set the value, on the thread that set it.
  ///
  /// It receives the value that a read now returns: the replacement of ``ensure(when:use:)``, or
  /// the old value if the new one was refused.
  open var didSetFunction: DidSetFunction? {
    get { guarded.current }
    set { guarded.current = newValue }
  }

  /// Creates a preference; see ``Preference/init(preferences:key:transformation:)``.
  public init(
    preferences: any MutablePreferencesType,
    key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    mutablePreferences = preferences
    super.init(preferences: preferences, key: key, transformation: transformation)
  }

  /// The value, or `nil` if there is no value of this type; setting `nil` removes the key.
  open override var value: T? {
    get { transformation.get(key, from: mutablePreferences) }
    set {
      guard let didSet = didSetFunction else {
        return transformation.set(key, value: newValue, to: mutablePreferences)
      }
      let oldValue = value
      transformation.set(key, value: newValue, to: mutablePreferences)
      didSet(value, oldValue)
    }
  }

  /// The value, or `nil` if there is no value of this type; setting `nil` removes the key.
  open override var wrappedValue: T? {
    get { value }
    set { value = newValue }
  }

  /// The preference itself.
  open override var projectedValue: MutablePreference<T> { self }

  /// Removes the key and its value.
  open func clear() { value = nil }

  /// Changes the value with a function; returning `nil` removes the key.
  open func apply(_ change: (T?) -> T?) { value = change(value) }

  /// Returns a preference of the same key that calls a closure after it was set; this one does not
  /// change.
  ///
  /// - Parameter closure: Receives the present value and the old one, like ``didSetFunction``, and
  ///   replaces any previous closure.
  open func didSet(_ closure: @escaping DidSetFunction) -> MutablePreference<T> {
    preference(transformation, didSet: closure)
  }

  /// Replaces the value with a converted one of another type, and returns the preference of that
  /// type; `nil` removes the key.
  open func transform<U>(_ transform: (T?) -> U?) -> MutablePreference<U> {
    let preference = MutablePreference<U>(preferences: mutablePreferences, key: key)
    preference.value = transform(value)
    return preference
  }

  /// Returns a preference of the same key that reads a replacement for some values.
  ///
  /// The stored value does not change.
  ///
  /// - Parameter condition: Returns whether to replace a value, or `nil`.
  open func ensure(
    when condition: @escaping (T?) -> Bool, use value: T
  ) -> MutablePreference<T> {
    let reading = ReadingTransformation<T>(base: transformation) { condition($0) ? value : $0 }
    return preference(reading, didSet: didSetFunction)
  }

  /// Returns a preference of the same key that reads a default if there is no value.
  ///
  /// Nothing is stored, and ``Preference/hasValue`` does not change.
  open func whenNil(use value: T) -> MutablePreference<T> {
    ensure(when: { $0 == nil }, use: value)
  }

  private func preference(
    _ transformation: any PreferenceTransformation, didSet: DidSetFunction?
  ) -> MutablePreference<T> {
    let preference = MutablePreference(
      preferences: mutablePreferences, key: key, transformation: transformation)
    preference.didSetFunction = didSet
    return preference
  }
}

/// One preference that can be read and changed, with a default.
///
/// ```swift
/// @MutablePreferenceWithDefault(key: "width", default: 80)
/// var width: Int
///
/// @MutablePreferenceWithDefault(key: "title")
/// var title = "untitled"
/// ```
///
/// The default is returned, but not stored, if the value is missing or of another type. `$width` is
/// the ``MutablePreference``, which can also be cleared.
@propertyWrapper
public struct MutablePreferenceWithDefault<T>: @unchecked Sendable {
  // Unchecked because the default may be of any type; this object does not change.

  /// The preference.
  public let projectedValue: MutablePreference<T>

  /// The value that a read returns if there is none.
  public let defaultValue: T

  /// Creates a preference with a default; see ``Preference/init(preferences:key:transformation:)``.
  public init(
    preferences: any MutablePreferencesType, key: PreferenceKey,
    default defaultValue: T, transformation: (any PreferenceTransformation)? = nil
  ) {
    projectedValue = MutablePreference(
      preferences: preferences, key: key, transformation: transformation)
    self.defaultValue = defaultValue
  }

  /// Creates a preference whose default is the initial value of the property; see
  /// ``Preference/init(preferences:key:transformation:)``.
  public init(
    wrappedValue: T,
    preferences: any MutablePreferencesType,
    key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    self.init(
      preferences: preferences, key: key, default: wrappedValue, transformation: transformation)
  }

  /// The value or the default.
  public var wrappedValue: T {
    get { projectedValue.value ?? defaultValue }
    nonmutating set { projectedValue.value = newValue }
  }
}

extension PreferencesType {
  /// Returns the preference of a key, which may have no value.
  public func preference<T>(forKey key: PreferenceKey) -> Preference<T> {
    Preference(preferences: self, key: key)
  }
}

extension MutablePreferencesType {
  /// Returns the preference of a key, which may have no value.
  public func preference<T>(forKey key: PreferenceKey) -> MutablePreference<T> {
    MutablePreference(preferences: self, key: key)
  }
}
