/// Preferences with a single value for every key, used between two transformations.
package final class SinglePreference: MutablePreferencesType {
  package private(set) var value: Any?

  /// Whether anything was set or removed.
  package private(set) var isSet = false

  /// Why a value was refused.
  package private(set) var refusal: PreferencesError?

  package init(_ value: Any?) { self.value = value }

  package func object(forKey key: PreferenceKey) -> PreferenceObject? { value }

  package func dictionary() -> PreferencesDictionary { [:] }

  package func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    self.value = value
    isSet = true
  }

  package func removeObject(forKey key: PreferenceKey) {
    set(nil as PreferenceObject?, forKey: key)
  }

  package func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) { refusal = error }
}
