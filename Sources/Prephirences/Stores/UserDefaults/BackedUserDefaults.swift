public import Foundation

/// User defaults whose values are in other preferences: a store that persists, a keychain, memory.
///
/// Any API that asks for a `UserDefaults` accepts it.
open class BackedUserDefaults: UserDefaults {
  /// The preferences that have the values.
  public let preferences: any MutablePreferencesType

  /// Creates user defaults over preferences.
  ///
  /// - Parameter preferences: The preferences that have the values.
  public init(preferences: any MutablePreferencesType) {
    self.preferences = preferences
    super.init(suiteName: nil)!  // stub
  }

  /// Returns the value of a key.
  open override func object(forKey key: PreferenceKey) -> Any? { preferences.object(forKey: key) }

  /// Sets the value of a key.
  open override func set(_ value: Any?, forKey key: PreferenceKey) { preferences[key] = value }

  /// Removes a key and its value.
  open override func removeObject(forKey key: PreferenceKey) {
    preferences.removeObject(forKey: key)
  }
}
