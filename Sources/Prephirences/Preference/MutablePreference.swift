public import Foundation

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
/// Setting `nil` removes. To change a value by what it was (``apply(_:)``, the operators) is to read
/// and then to write: another thread may write between the two.
@propertyWrapper
open class MutablePreference<T>: Preference<T>, @unchecked Sendable {
  // Unchecked as the class above it.

  /// Is given the value that is read now and the one before.
  public typealias DidSetFunction = (_ newValue: T?, _ oldValue: T?) -> Void

  let mutablePreferences: any MutablePreferencesType

  private let guarded = Guarded<DidSetFunction?>(nil)

  /// Is called after the value was set through this object, on the thread that set it.
  ///
  /// It is given the value as it is read then: with what ``ensure(when:use:)`` reads in its place, and the
  /// old one if what was set was refused.
  open var didSetFunction: DidSetFunction? {
    get { guarded.current }
    set { guarded.current = newValue }
  }

  /// Makes a preference.
  ///
  /// - Parameters:
  ///   - preferences: The preferences that have the key.
  ///   - key: The key.
  ///   - transformation: How the value is stored; see
  ///     ``Preference/init(preferences:key:transformation:)``.
  public init(
    preferences: any MutablePreferencesType = Prephirences.sharedMutableInstance
      ?? UserDefaults.standard,
    key: PreferenceKey, transformation: (any PreferenceTransformation)? = nil
  ) {
    mutablePreferences = preferences
    super.init(preferences: preferences, key: key, transformation: transformation)
  }

  /// The value, or `nil` if there is none of this type; setting `nil` removes.
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

  /// The value, or `nil` if there is none of this type; setting `nil` removes.
  open override var wrappedValue: T? {
    get { value }
    set { value = newValue }
  }

  /// The preference itself.
  open override var projectedValue: MutablePreference<T> { self }

  /// Removes the key with its value.
  open func clear() { value = nil }

  /// Sets the value to one that is made of it.
  ///
  /// - Parameter change: Is given the value and returns the new one; `nil` removes.
  open func apply(_ change: (T?) -> T?) { value = change(value) }

  /// Returns a preference of the same key that tells when it was set.
  ///
  /// - Parameter closure: Is given the value that is read now and the old one, as
  ///   ``didSetFunction``, in place of any closure before.
  /// - Returns: The other preference; this one stays as it is.
  open func didSet(_ closure: @escaping DidSetFunction) -> MutablePreference<T> {
    preference(transformation, didSet: closure)
  }

  /// Replaces the value by one of another type that is made of it, and returns the preference of
  /// the same key that has it.
  ///
  /// - Parameter transform: Is given the value and returns the new one; `nil` removes.
  /// - Returns: The other preference.
  open func transform<U>(_ transform: (T?) -> U?) -> MutablePreference<U> {
    let preference = MutablePreference<U>(preferences: mutablePreferences, key: key)
    preference.value = transform(value)
    return preference
  }

  /// Returns a preference of the same key that reads another value in place of some.
  ///
  /// What is stored stays as it is.
  ///
  /// - Parameters:
  ///   - condition: Whether a value, or `nil`, is to be replaced.
  ///   - value: What is read in its place.
  /// - Returns: The other preference.
  open func ensure(
    when condition: @escaping (T?) -> Bool, use value: T
  ) -> MutablePreference<T> {
    let reading = ReadingTransformation<T>(base: transformation) { condition($0) ? value : $0 }
    return preference(reading, didSet: didSetFunction)
  }

  /// Returns a preference of the same key that reads a value where there is none.
  ///
  /// Nothing is stored: ``Preference/hasValue`` stays as it is.
  ///
  /// - Parameter value: What is read in place of `nil`.
  /// - Returns: The other preference.
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
