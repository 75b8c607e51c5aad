public import Foundation
public import Prephirences
internal import PrephirencesDurable
internal import PrephirencesSystem

/// The entries of a program: declare them in an extension.
///
/// ```swift
/// extension PalauDefaults {
///   static var name: PalauDefaultsEntry<String> { value("name") }
///   static var port: PalauDefaultsEntryEnsured<Int> { value("port", whenNil: 8080) }
///   static var hosts: PalauDefaultsArrayEntry<String> { value("hosts") }
/// }
///
/// PalauDefaults.name.value = "Ada"
/// ```
///
/// A set value is on disk when the setter returns. Values are in ``defaults``, unless the entry has
/// its own user defaults.
public struct PalauDefaults {
  /// The user defaults of entries that have none of their own; initially the program's
  /// `DurableUserDefaults.standard`.
  ///
  /// Set it at the start of a program to use another suite, or in tests. Any `UserDefaults` will
  /// do; plain ones are synchronized after each change.
  public static var defaults: NSUD {
    get { SharedDefaults.current.withLock { $0 } ?? DurableUserDefaults.standard }
    set { SharedDefaults.current.withLock { $0 = newValue } }
  }

  /// Returns its argument: the rule of an entry without rules.
  public static func pure<T>(_ value: T) -> T { value }

  /// Whether a value is `nil`.
  public static func isEmpty<T>(_ value: T?) -> Bool { value == nil }

  /// Returns the entry of a key.
  public static func value<T>(_ key: String) -> PalauDefaultsEntry<T> {
    value(key, in: defaults)
  }

  /// Returns the array entry of a key.
  public static func value<T>(_ key: String) -> PalauDefaultsArrayEntry<T> {
    value(key, in: defaults)
  }

  /// Returns the entry of a key in other user defaults.
  public static func value<T>(_ key: String, in defaults: NSUD) -> PalauDefaultsEntry<T> {
    PalauDefaultsEntry(key: key, defaults: defaults, ensure: { $0 })
  }

  /// Returns the array entry of a key in other user defaults.
  public static func value<T>(_ key: String, in defaults: NSUD) -> PalauDefaultsArrayEntry<T> {
    PalauDefaultsArrayEntry(key: key, defaults: defaults, ensure: { $0 })
  }

  /// Returns the entry of a key whose value is never `nil`, because it has a fallback.
  public static func value<T>(
    _ key: String, whenNil fallback: T, in defaults: NSUD = PalauDefaults.defaults
  ) -> PalauDefaultsEntryEnsured<T> {
    PalauEnsuredEntry(value(key, in: defaults), whenNil: fallback)
  }

  /// Returns the array entry of a key whose value is never `nil`, because it has a fallback.
  public static func value<T>(
    _ key: String, whenNil fallback: [T], in defaults: NSUD = PalauDefaults.defaults
  ) -> PalauDefaultsArrayEntryEnsured<T> {
    PalauEnsuredEntry(value(key, in: defaults), whenNil: fallback)
  }
}

/// The user defaults that were set.
private enum SharedDefaults {
  static let current = PosixMutex<NSUD?>(nil)
}

extension PalauDefaults {
  /// Returns the entry of a key in any preferences, such as those of a suite.
  ///
  /// ```swift
  /// extension PalauDefaults {
  ///   static let server = DurablePreferences(suiteName: "com.example.server")
  ///   static var host: PalauDefaultsEntry<String> { value("host", in: server) }
  /// }
  /// ```
  public static func value<T>(
    _ key: String, in preferences: any MutablePreferencesType
  ) -> PalauDefaultsEntry<T> {
    value(key, in: .over(preferences))
  }

  /// Returns the array entry of a key in any preferences.
  public static func value<T>(
    _ key: String, in preferences: any MutablePreferencesType
  ) -> PalauDefaultsArrayEntry<T> {
    value(key, in: .over(preferences))
  }

  /// Returns the entry of a key in any preferences, with a fallback instead of `nil`.
  public static func value<T>(
    _ key: String, whenNil fallback: T, in preferences: any MutablePreferencesType
  ) -> PalauDefaultsEntryEnsured<T> {
    value(key, whenNil: fallback, in: .over(preferences))
  }

  /// Returns the array entry of a key in any preferences, with a fallback instead of `nil`.
  public static func value<T>(
    _ key: String, whenNil fallback: [T], in preferences: any MutablePreferencesType
  ) -> PalauDefaultsArrayEntryEnsured<T> {
    value(key, whenNil: fallback, in: .over(preferences))
  }
}

/// The user defaults that entries read and write.
public typealias NSUD = UserDefaults

// Code for Palau for Swift 2 uses these names, in types that read and write themselves.
extension UserDefaults {
  /// The old name of `object(forKey:)`.
  @available(*, deprecated, renamed: "object(forKey:)")
  public func objectForKey(_ key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }

  /// The old name of `set(_:forKey:)`; `nil` removes the key.
  @available(*, deprecated, renamed: "set(_:forKey:)")
  public func setObject(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    // Outside Apple's systems, casting `nil` to an object gives `NSNull`.
    setPreference(value is NSNull ? nil : value, forKey: key)
  }

  /// The old name of `removeObject(forKey:)`.
  @available(*, deprecated, renamed: "removeObject(forKey:)")
  public func removeObjectForKey(_ key: PreferenceKey) { removePreference(forKey: key) }
}
