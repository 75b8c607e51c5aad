internal import Foundation
public import Prephirences
internal import PrephirencesDurable

extension PalauDefaults {
  /// Returns the entry of a key in any preferences, such as those of a suite.
  ///
  /// ```swift
  /// extension PalauDefaults {
  ///   static let server = DurablePreferences(suiteName: "com.example.server")
  ///   static var host: PalauDefaultsEntry<String> { value("host", in: server) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - preferences: The preferences.
  /// - Returns: The entry, without rules.
  public static func value<T>(
    _ key: String, in preferences: any MutablePreferencesType
  ) -> PalauDefaultsEntry<T> {
    value(key, in: userDefaults(over: preferences))
  }

  /// Returns the array entry of a key in any preferences.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - preferences: The preferences.
  /// - Returns: The entry, without rules.
  public static func value<T>(
    _ key: String, in preferences: any MutablePreferencesType
  ) -> PalauDefaultsArrayEntry<T> {
    value(key, in: userDefaults(over: preferences))
  }

  /// Returns the entry of a key in any preferences, whose value is never `nil`.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fallback: The value if there is none.
  ///   - preferences: The preferences.
  /// - Returns: The entry, without other rules.
  public static func value<T>(
    _ key: String, whenNil fallback: T, in preferences: any MutablePreferencesType
  ) -> PalauDefaultsEntryEnsured<T> {
    value(key, whenNil: fallback, in: userDefaults(over: preferences))
  }

  /// Returns the array entry of a key in any preferences, whose value is never `nil`.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fallback: The values if there are none.
  ///   - preferences: The preferences.
  /// - Returns: The entry, without other rules.
  public static func value<T>(
    _ key: String, whenNil fallback: [T], in preferences: any MutablePreferencesType
  ) -> PalauDefaultsArrayEntryEnsured<T> {
    value(key, whenNil: fallback, in: userDefaults(over: preferences))
  }

  private static func userDefaults(over preferences: any MutablePreferencesType) -> NSUD {
    switch preferences {
    case let defaults as NSUD: defaults
    case let durable as DurablePreferences: DurableUserDefaults(durable)
    default: BackedUserDefaults(preferences: preferences)
    }
  }
}
