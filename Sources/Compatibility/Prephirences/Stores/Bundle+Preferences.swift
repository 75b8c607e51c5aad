public import Foundation

/// The information property list of a bundle as read-only preferences.
extension Bundle: PreferencesType {
  /// Returns the value of a key.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    unwrapped(object(forInfoDictionaryKey: key)).map(PropertyListForm.decode)
  }

  /// Returns all preferences.
  public func dictionary() -> PreferencesDictionary {
    (infoDictionary ?? [:]).droppingNil().mapValues(PropertyListForm.decode)
  }
}
