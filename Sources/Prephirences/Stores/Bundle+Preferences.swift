public import Foundation

/// The information property list of a bundle is preferences that can only be read.
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
