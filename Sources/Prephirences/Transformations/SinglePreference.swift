/// Preferences with a single value for every key, used between two transformations.
final class SinglePreference: MutablePreferencesType {
  private(set) var value: Any?

  /// Whether anything was set or removed.
  private(set) var isSet = false

  /// Why a value was refused.
  private(set) var refusal: PreferencesError?

  init(_ value: Any?) { self.value = value }

  func object(forKey key: PreferenceKey) -> PreferenceObject? { value }

  func dictionary() -> PreferencesDictionary { [:] }

  func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    self.value = value
    isSet = true
  }

  func removeObject(forKey key: PreferenceKey) {
    set(nil as PreferenceObject?, forKey: key)
  }

  func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) { refusal = error }
}
